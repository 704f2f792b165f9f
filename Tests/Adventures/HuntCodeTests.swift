import Database
import Foundation
import Support
import Testing

/// How many wrong codes of hunts are allowed in all.
@Suite struct HuntCodeTests {
  private static let total = "wrong hunt codes of all"

  @Test(arguments: engines) func guessingIsLimitedInAllHoweverManyGuessAtOnce(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let guessers = try await atOnce(10) { try await stack.signIn("guest\($0)") }
      // None of the later ones is anybody's first.
      for guesser in guessers { #expect(try await guesser.join(code: "AAAAAAAA").status == 404) }
      try await stack.setTaken(975, ofQuota: Self.total, in: "adventures")
      let replies = try await atOnce(50) { try await guessers[$0 % 10].join(code: "AAAAAA\(22 + $0 % 8)") }
      #expect(replies.count { $0.status == 404 } == 25)
      #expect(replies.count { $0.status == 429 } == 25)
      let full = try await stack.count("quota where name = \(Self.total) and taken = 1000", in: "adventures")
      #expect(full == 1)
    }
  }

  @Test(arguments: engines) func beyondTheTotalOnlyTheFirstGuessOfWhoHasProvenSomethingIsFree(
    _ engine: Engine
  ) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let (carol, dora) = (try await stack.signIn("carol"), try await stack.signIn("dora"))
      let hunt = try await alice.makeHunt()
      #expect(try await alice.join(code: "AAAAAAAA").status == 404)
      try await stack.setTaken(1000, ofQuota: Self.total, in: "adventures")
      try await withUnprovenUsers(of: [dora], in: stack) { _ in
        for code in ["AAAAAAAA", hunt.code] { #expect(try await dora.join(code: code).status == 429, "\(code)") }
        let first = try await carol.join(code: "AAAAAAAA")
        #expect(first.status == 404)
        for code in ["AAAAAAAA", hunt.code] { #expect(try await carol.join(code: code).status == 429, "\(code)") }
        #expect(try await bob.join(hunt).status == 200)
      }
      // While auth does not answer, nobody has proven anything.
      let eve = try await stack.signIn("eve")
      stack.dependencies.serviceAddresses.set(.auth, to: "http://127.0.0.1:1")
      #expect(try await eve.join(hunt).status == 429)
      stack.dependencies.serviceAddresses.set(.auth, to: stack.auth.base)
      #expect(try await eve.join(hunt).status == 200)
      stack.clock.advance(by: .seconds(3601))
      #expect(try await stack.signIn("carol").join(hunt).status == 200)
    }
  }
}

extension SignedInUser {
  fileprivate func join(code: String) async throws -> Browser.Reply {
    try await rest(.POST, "scavenger_hunts/join", #"{"invite_code": "\#(code)"}"#)
  }
}
