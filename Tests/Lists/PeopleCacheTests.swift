import Clients
import Foundation
import Support
import Testing
import Wire

@testable import Lists

/// The cache of names and addresses of users.
@Suite struct PeopleCacheTests {
  /// Requests for more users than the cache holds all succeed, although they evict each other's entries.
  @Test func manyWhoAskAboutManyAllGetTheirAnswers() async throws {
    try await withStack(.sqlite) { stack in
      let alice = try await stack.signIn("alice")
      let clock = stack.clock
      let peopleCache = PeopleCache(users: UsersClient(in: stack.dependencies(of: "lists")), now: { clock.now })
      let found = try await atOnce(6) { _ in
        let strangers = (0..<6000).map { _ in UserID.new(at: clock.now) }
        return try await peopleCache.people(Set(strangers + [alice.id]))
      }
      #expect(found.allSatisfy { $0.keys.elementsEqual([alice.id]) })
    }
  }

  @Test func whileAuthIsAwayWhoIsKnownKeepsTheirNameAndNobodyIsTakenForGone() async throws {
    try await withStack(.sqlite) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let clock = stack.clock
      let peopleCache = PeopleCache(users: UsersClient(in: stack.dependencies(of: "lists")), now: { clock.now })
      _ = try await peopleCache.people([alice.id])
      stack.dependencies.serviceAddresses.set(.auth, to: "http://127.0.0.1:\(try freePort())")
      clock.advance(by: .seconds(3600))
      let people = try await peopleCache.people([alice.id, bob.id])
      #expect(people[alice.id]?.name == "alice" && people[alice.id]?.number != 0)
      #expect(people[bob.id]?.number == 0 && people[bob.id]?.name == nil && people[bob.id]?.isProven == false)
      #expect(try await peopleCache.actingUser(bob.id).timeZone == .gmt)
      stack.dependencies.serviceAddresses.set(.auth, to: stack.auth.base)
      try await eventually("bob's name") {
        clock.advance(by: .seconds(6))
        return try await peopleCache.people([bob.id])[bob.id]?.name == "bob"
      }
    }
  }
}
