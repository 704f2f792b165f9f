import Database
import Foundation
import Support
import Testing
import Wire

@testable import Groups

/// The notification of a group's first photo of the day.
@Suite struct FirstPhotoNotificationTests {
  private static let settings = ["PHOTO_EVENTS": "true"]

  private func outcomes(_ stack: TestStack) async throws -> [String?] {
    let database = try await stack.testDatabase.open("groups", [])
    let found = try await database.read { db in
      try db.rows("select outcome from outbox where kind = 'first_photo' order by position").map {
        try $0.optional("outcome", as: String.self)
      }
    }
    await database.close()
    return found
  }

  private func recipients(_ photo: String, _ stack: TestStack) async throws -> Set<UserID> {
    let database = try await stack.testDatabase.open("groups", [])
    let id = try #require(PhotoID(photo))
    let found = try await database.read { try FirstPhotoNotifications.recipients(of: id, at: stack.clock.now, on: $0) }
    await database.close()
    return Set(found)
  }

  @Test(arguments: engines) func ofTheDaysPhotosTheFirstIsNewsOnce(engine: Engine) async throws {
    try await withStack(engine, Self.settings) { stack in
      var users: [SignedInUser] = []
      for name in ["alice", "bob", "carol", "dave"] { users.append(try await stack.signIn(name)) }
      let group = try await users[0].group("Ours")
      for user in users.dropFirst() { try await stack.addMember(user, in: group, by: users[0]) }
      let sent = try await atOnce(4) { [users] index in
        try await users[index].send(SamplePhotos.jpeg, to: group).status
      }
      #expect(sent == [200, 200, 200, 200])
      try await eventually("the delivery") { try await outcomes(stack) == ["done"] }

      // A deleted photo counts: there is no second notification on that day.
      let (alice, other) = (users[0], try await users[0].group("Others"))
      let first = try await alice.send(SamplePhotos.jpeg, to: other).string("photo_id")
      #expect(try await alice.browser.delete("/api/photos/\(first)").status == 200)
      #expect(try await alice.send(SamplePhotos.jpeg, to: other).status == 200)
      #expect(try await outcomes(stack).count == 2)
      stack.clock.advance(by: .seconds(86_400))
      let next = try await stack.signIn("alice")
      #expect(try await next.send(SamplePhotos.jpeg, to: other).status == 200)
      #expect(try await outcomes(stack).count == 3)
    }
  }

  @Test(arguments: engines) func itIsForAllWhoMaySeeThePhotoButTheSender(engine: Engine) async throws {
    try await withStack(engine, Self.settings) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let (carol, dave) = (try await stack.signIn("carol"), try await stack.signIn("dave"))
      let group = try await alice.group("Ours")
      for user in [bob, carol, dave] { try await stack.addMember(user, in: group, by: alice) }
      let photo = try await alice.send(SamplePhotos.jpeg, to: group).string("photo_id")
      #expect(try await recipients(photo, stack) == [bob.id, carol.id, dave.id])
      #expect(try await bob.browser.post("/users/\(alice.id)/block").status == 200)
      #expect(try await carol.browser.delete("/api/groups/\(group)").status == 200)
      #expect(try await recipients(photo, stack) == [dave.id])
      #expect(try await alice.browser.delete("/api/photos/\(photo)").status == 200)
      #expect(try await recipients(photo, stack).isEmpty)
    }
  }

  @Test func aConfirmedPhotoIsNewsToo() async throws {
    try await withStack(.sqlite, Self.settings) { stack in
      let alice = try await stack.signIn("alice")
      let group = try await alice.group("Ours")
      let pendingUpload = try await alice.browser.post("/api/photos/upload-url", ["group_id": group.description])
      let path = stack.path(pendingUpload.string("upload_url"))
      #expect(try await stack.gateway.send(.PUT, path, body: SamplePhotos.jpeg).status == 200)
      #expect(try await outcomes(stack).isEmpty)
      let confirmed = try await alice.browser.post(
        "/api/photos/confirm-upload", ["photo_id": pendingUpload.string("photo_id")])
      #expect(confirmed.status == 200)
      try await eventually("the delivery") { try await outcomes(stack) == ["done"] }
      // It is deleted with its sender.
      let erased = try await stack.groups.with(stack.with(key: "auth")).delete("/internal/users/\(alice.id)/data")
      #expect(erased.status == 204)
      #expect(try await outcomes(stack).isEmpty)
    }
  }

  @Test func nothingIsNotedUnlessItIsWanted() async throws {
    try await withStack(.sqlite, ["PHOTO_EVENTS": "false"]) { stack in
      let alice = try await stack.signIn("alice")
      #expect(try await alice.send(SamplePhotos.jpeg, to: alice.group("Ours")).status == 200)
      #expect(try await outcomes(stack).isEmpty)
    }
  }
}
