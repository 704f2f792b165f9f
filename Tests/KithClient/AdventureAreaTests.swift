import Database
import Foundation
import Support
import Testing

@testable import KithClient

/// Every call of `adventures`, against the real server.
@Suite struct AdventureAreaTests {
  private static let door = Coordinate(latitude: 37.7749, longitude: -122.4194)

  @Test(arguments: engines) func plansAndPlacesAreTheUsersOwn(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.clientWithShortTokens("alice").adventures
      let bob = try await stack.clientWithShortTokens("bob").adventures
      let stop = AdventurePlan.Stop(name: "Coffee Shop", address: "123 Main St", at: Self.door)
      let plan = try await alice.createPlan(title: "Weekend Adventure", description: "A trip", stops: [stop])
      #expect(plan.stops == [stop] && plan.status == .draft && plan.title == "Weekend Adventure")
      #expect(try await alice.changePlan(plan.id, title: "Updated", status: .active).status == .active)
      #expect(try await alice.plans().map(\.title) == ["Updated"])
      #expect(try await bob.plans().isEmpty)
      // There is no such row for somebody else.
      await #expect(throws: KithFailure.self) { try await bob.changePlan(plan.id, title: "Mine") }
      try await alice.deletePlan(plan.id)
      #expect(try await alice.plans().isEmpty)

      let place = try await alice.savePlace(
        name: "Favorite Coffee Shop", address: "123 Main St", at: Self.door, category: "coffee")
      #expect(place.latitude == Self.door.latitude && place.category == "coffee")
      #expect(try await alice.places() == [place])
      try await alice.deletePlace(place.id)
      #expect(try await alice.places().isEmpty)
    }
  }

  @Test(arguments: engines) func aGroupGoesOnAHunt(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.clientWithShortTokens("alice").adventures
      let bobsClient = try await stack.clientWithShortTokens("bob")
      let bob = bobsClient.adventures
      let group = try await alice.createSocialGroup(name: "Weekend Warriors", description: "Trips")
      #expect(try await bob.joinSocialGroup(code: group.inviteCode).id == group.id)
      #expect(try await bob.joinSocialGroup(code: group.inviteCode).id == group.id)
      #expect(try await alice.members(ofSocialGroup: group.id).count == 2)
      #expect(try await bob.socialGroups().map(\.name) == ["Weekend Warriors"])

      let hunt = try await alice.createHunt(
        title: "City Scavenger Hunt", in: group.id,
        checkpoints: [.init(title: "Find the Red Door", location: Self.door, points: 20), .init(title: "Find the cat")])
      #expect(hunt.status == .draft && hunt.checkpointCount == 2 && hunt.groupID == group.id)
      try await bob.joinHunt(hunt.id)
      let code = try #require(hunt.inviteCode)
      #expect(try await bob.joinHunt(code: code).id == hunt.id)
      #expect(try await alice.changeHunt(hunt.id, to: .active).status == .active)
      let checkpoints = try await bob.checkpoints(of: hunt.id)
      #expect(checkpoints.map(\.title) == ["Find the Red Door", "Find the cat"])
      #expect(checkpoints[0].location == Self.door && checkpoints[0].points == 20)
      let submission = try await bob.submit(checkpoints[0].id)
      #expect(submission.checkpointID == checkpoints[0].id)
      let twice = await #expect(throws: KithFailure.self) { try await bob.submit(checkpoints[0].id) }
      #expect(twice?.code == .known(.validationError))
      let none = await #expect(throws: KithFailure.self) { try await bob.joinHunt(group.id) }
      #expect(none?.code == .known(.huntNotFound))
      let score = try #require(try await alice.leaderboard(of: hunt.id).first)
      #expect(score.score == 20 && score.completedCheckpoints == 1 && score.totalCheckpoints == 2)
      #expect(try await bob.hunts().first?.progress == 0.5)
      #expect(try await alice.changeHunt(hunt.id, to: .completed).status == .completed)

      try await bob.leaveSocialGroup(group.id)
      #expect(try await bob.socialGroups().isEmpty)
      let stranger = try await stack.clientWithShortTokens("carol").adventures
      await #expect(throws: KithFailure.self) { try await stranger.joinSocialGroup(code: "NOTACODE") }
    }
  }

  @Test(arguments: engines) func anArrivalIsSharedAndEnded(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.clientWithShortTokens("alice").adventures
      let bobsClient = try await stack.clientWithShortTokens("bob")
      let bob = try await bobsClient.auth.account()
      let share = try await alice.shareArrival(
        route: ["distance": 5.2, "transport_mode": "driving"], with: [bob.id],
        until: stack.clock.now.addingTimeInterval(3600))
      #expect(share.isActive && share.routeData["distance"] == .double(5.2))
      #expect(try await bobsClient.adventures.arrivals().map(\.id) == [share.id])
      try await alice.endArrival(share.id)
      #expect(try await alice.arrivals().isEmpty)
      // For a minute, an answer is shown again without asking.
      #expect(try await bobsClient.adventures.arrivals().map(\.id) == [share.id])
      stack.clock.advance(by: .seconds(61))
      #expect(try await bobsClient.adventures.arrivals().isEmpty)
    }
  }

  @Test func aPlanWhoseAnswerWasLostIsMadeOnce() async throws {
    try await withStack(engines[0]) { stack in
      let transport = LosingTransport(losesFirstOf: "/rest/v1/adventure_plans")
      let alice = try await stack.clientWithShortTokens("alice", transport: transport).adventures
      _ = try await alice.createPlan(title: "Weekend Adventure")
      #expect(transport.lost == 1)
      #expect(try await alice.plans().count == 1)
    }
  }
}
