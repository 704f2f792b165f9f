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
}
