import Clients
import Foundation
import Support
import Testing
import Web
import Wire

/// Calls between services that do not go well.
@Suite struct ClientTests {
  @Test func aServiceThatNeverAnswersIsGivenUpInTime() async throws {
    try await withSilence { port in
      let neighbours = Neighbours(Settings(["AUTH_URL": "http://127.0.0.1:\(port)"]))
      let users = UsersClient(in: Surroundings(Settings([:]), neighbours: neighbours, logger: quiet))
      let started = ContinuousClock.now
      await #expect(throws: Failure.unavailable) { _ = try await users.endedSessions(since: nil) }
      #expect(ContinuousClock.now - started < .seconds(4))
    }
  }

  @Test func aServiceThatIsNotThereIsSaidSoAtOnce() async throws {
    let neighbours = Neighbours(Settings(["CREDITS_URL": "http://127.0.0.1:\(try freePort())/"]))
    let credits = CreditsClient(in: Surroundings(Settings([:]), neighbours: neighbours, logger: quiet))
    let started = ContinuousClock.now
    await #expect(throws: Failure.unavailable) { _ = try await credits.check(.new(at: Date()), cost: 1) }
    #expect(ContinuousClock.now - started < .seconds(3))
  }

  @Test func aRemoteFailureArrivesAsItWasThrown() async throws {
    try await withStack(.sqlite) { stack in
      let credits = CreditsClient(in: stack.surroundings(of: "invites"))
      await #expect(throws: Failure.userNotFound) { _ = try await credits.check(.new(at: Date()), cost: 1) }
      let alice = try await stack.signIn("alice")
      await #expect { _ = try await credits.spend(.init(userID: alice.id, cost: 0)) } throws: { error in
        (error as? Failure)?.fields.map(\.field) == ["cost"]
      }
      // A key that the other side does not know is this process's trouble, not its caller's.
      let wrong = stack.surroundings.with(stack.surroundings.settings.overlaid(["SERVICE_KEY": "wrong"]))
      await #expect(throws: Failure.unavailable) { _ = try await CreditsClient(in: wrong).check(alice.id, cost: 1) }
    }
  }
}
