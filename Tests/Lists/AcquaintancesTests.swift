import Clients
import Foundation
import Support
import Testing
import Wire

@testable import Lists

/// Who is remembered of all those in answers.
@Suite struct AcquaintancesTests {
  /// More than are remembered at once: whoever asks gets an answer, though others push out what it has just learned.
  @Test func manyWhoAskAboutManyAllGetTheirAnswers() async throws {
    try await withStack(.sqlite) { stack in
      let alice = try await stack.signIn("alice")
      let clock = stack.clock
      let acquaintances = Acquaintances(users: UsersClient(in: stack.surroundings(of: "lists")), now: { clock.now })
      let found = try await atOnce(6) { _ in
        let strangers = (0..<6000).map { _ in UserID.new(at: clock.now) }
        return try await acquaintances.people(Set(strangers + [alice.id]))
      }
      #expect(found.allSatisfy { $0.keys.elementsEqual([alice.id]) })
    }
  }

  @Test func whileAuthIsAwayWhoIsKnownKeepsTheirNameAndNobodyIsTakenForGone() async throws {
    try await withStack(.sqlite) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let clock = stack.clock
      let acquaintances = Acquaintances(users: UsersClient(in: stack.surroundings(of: "lists")), now: { clock.now })
      _ = try await acquaintances.people([alice.id])
      stack.surroundings.neighbours.moved(.auth, to: "http://127.0.0.1:\(try freePort())")
      clock.advance(by: .seconds(3600))
      let people = try await acquaintances.people([alice.id, bob.id])
      #expect(people[alice.id]?.name == "alice" && people[alice.id]?.number != 0)
      #expect(people[bob.id]?.number == 0 && people[bob.id]?.name == nil && people[bob.id]?.isProven == false)
      #expect(try await acquaintances.doer(bob.id).zone == .gmt)
      stack.surroundings.neighbours.moved(.auth, to: stack.auth.base)
      try await eventually("bob's name") {
        clock.advance(by: .seconds(6))
        return try await acquaintances.people([bob.id])[bob.id]?.name == "bob"
      }
    }
  }
}
