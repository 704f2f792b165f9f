import Database
import Foundation
import Support
import Testing

/// The pages of a user's history.
@Suite struct HistoryPageTests {
  @Test(arguments: engines) func entriesAddedBetweenTwoPagesAreNeitherSkippedNorRepeated(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      for amount in 1...7 { try await grant(amount, to: alice, stack) }
      var (amounts, path): ([Int], String?) = ([], "/api/v1/credits/history?limit=3")
      while let page = path {
        let reply = try await alice.browser.get(page)
        #expect(reply.status == 200)
        amounts += reply.list.compactMap { $0["amount"] as? Int }
        path = next(reply)
        try await grant(100 + amounts.count, to: alice, stack)
      }
      #expect(amounts == [7, 6, 5, 4, 3, 2, 1, 50])
    }
  }

  @Test(arguments: engines) func thePageAfterAnOffsetIsFoundByItsCursor(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      for amount in 1...4 { try await grant(amount, to: alice, stack) }
      let first = try await alice.browser.get("/api/v1/credits/history?limit=2&offset=1")
      #expect(first.list.compactMap { $0["amount"] as? Int } == [3, 2])
      let second = try await alice.browser.get(try #require(next(first)))
      #expect(second.list.compactMap { $0["amount"] as? Int } == [1, 50])
      #expect(next(second) == nil)
    }
  }

  @Test(arguments: engines) func otherTextIsNoCursor(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      #expect(next(try await alice.browser.get("/api/v1/credits/history")) == nil)
      for query in [
        "cursor=", "cursor=x", "cursor=21", "cursor=AgAAAAAAAAAV", "cursor=AQAAAAAAAAAA", "cursor=Af__________",
        "cursor=AQAAAAAAAAAV%3D", "cursor=AQAAAAAAAAAVAA", "cursor=AQAAAAAAAAAV&offset=1",
      ] {
        let reply = try await alice.browser.get("/api/v1/credits/history?\(query)")
        #expect(reply.status == 422, "\(query)")
      }
      #expect(try await alice.browser.get("/api/v1/credits/history?cursor=AQAAAAAAAAAV").status == 200)
    }
  }

  private func grant(_ amount: Int, to user: SignedInUser, _ stack: TestStack) async throws {
    let admin = stack.gateway.with(["X-Admin-Key": TestStack.adminKey])
    let reply = try await admin.post(
      "/api/v1/credits/admin/grant", ["user_id": user.id.description, "amount": amount])
    #expect(reply.status == 200)
  }

  /// The target of the link to the next page.
  private func next(_ reply: Browser.Reply) -> String? {
    let link = reply.headers.first(name: "link")
    return link?.firstMatch(of: /^<(.*)>; rel="next"$/).map { String($0.1) }
  }
}
