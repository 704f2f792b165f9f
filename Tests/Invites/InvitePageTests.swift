import Database
import Foundation
import Support
import Testing

/// The web pages of invites.
@Suite struct InvitePageTests {
  private let settings = [
    "APP_NAME": "Dayly", "APPLE_APP_IDS": "A1B2C3D4E5.com.example.app,A1B2C3D4E5.com.example.other",
    "PUBLIC_URL": "https://api.example.com/",
  ]

  @Test(arguments: engines) func aLinkShowsWhoInvitesToWhatAndTheWaysOn(engine: Engine) async throws {
    try await withStack(engine, settings) { stack in
      let (alice, bob) = (try await stack.signIn("Alice"), try await stack.signIn("bob"))
      let collection = try await alice.collection("Marbles <b>& \"more\"")
      let link = try await alice.link(to: collection)
      let page = try await stack.gateway.get("/invite/\(link.token)")
      #expect(page.status == 200)
      #expect(page.headers.first(name: "content-type") == "text/html; charset=utf-8")
      #expect(page.headers.first(name: "cache-control") == "no-store")
      for words in [
        "Alice invites you", "Marbles &lt;b&gt;&amp; &quot;more&quot;", "href=\"sampleart://invite/\(link.token)\"",
        "href=\"https://apps.apple.com/app/id6749925767\"", "Good until", "<meta property=\"og:title\"",
        "content=\"https://api.example.com/invite/\(link.token)\"",
        "app-id=6749925767, app-argument=sampleart://invite/\(link.token)", "lang=\"en\"",
      ] {
        #expect(page.text.contains(words), "\(words)")
      }
      #expect(!page.text.contains("<b>") && !page.text.contains("<script"))
      #expect(page.body.count < 20 * 1024)
      expectStrict(page)
      // The page does not change the invite.
      #expect(try await stack.resolve(link).data["status"] as? String == "PENDING")
      #expect(try await bob.accept(link).status == 200)
      let used = try await stack.gateway.get("/invite/\(link.token)")
      #expect(used.status == 410 && used.text.contains("has been used") && !used.text.contains("sampleart://"))
      let late = try await alice.link(to: collection)
      stack.clock.advance(by: .seconds(7 * 86_400))
      let expired = try await stack.gateway.get("/invite/\(late.token)/")
      #expect(expired.status == 410 && expired.text.contains("has expired") && expired.text.contains("Get the app"))
      let host = try await stack.signIn("Alice")
      let closed = try await host.link(to: collection)
      #expect(try await host.browser.delete("/collections/\(collection)/invites/\(closed.id)").status == 204)
      let takenBack = try await stack.gateway.get("/invite/\(closed.token)")
      #expect(
        takenBack.status == 410 && takenBack.text.contains("is closed") && !takenBack.text.contains("sampleart://"))
      // Each state has another icon.
      let drawings = [page, used, expired, takenBack].map { $0.text.firstMatch(of: /<svg.*<\/svg>/)?.output }
      #expect(Set(drawings).count == 4 && !drawings.contains(nil))
      for path in ["/invite/inv_nothing", "/invite/x", "/invite/%3Cscript%3E", "/i/ZZZZZZ", "/i/x"] {
        let unknown = try await stack.gateway.get(path)
        #expect(unknown.status == 404 && unknown.text.contains("cannot find this invite"), "\(path)")
        expectStrict(unknown)
      }
    }
  }

  /// The page loads nothing from other URLs and has no scripts.
  private func expectStrict(_ page: Browser.Reply) {
    let policy = page.headers.first(name: "content-security-policy") ?? ""
    #expect(policy.hasPrefix("default-src 'none'; style-src 'sha256-") && !policy.contains("unsafe"))
    #expect(page.headers["content-security-policy"].count == 1)
    #expect(!page.text.contains(" src=") && !page.text.contains("url(") && !page.text.contains("@import"))
    #expect(!page.text.contains(" style=") && !page.text.contains("onclick"))
  }

  @Test(arguments: engines) func aCodeHasAPageOfItsOwn(engine: Engine) async throws {
    try await withTextingStack(engine, settings) { texting in
      let alice = try await texting.stack.signIn("Alice")
      let code = try await texting.invite([number(4)], to: try await alice.group("The Cabin"), by: alice)[0]
      let page = try await texting.stack.gateway.get("/i/\(code.lowercased())")
      #expect(page.status == 200)
      for words in ["Alice invites you", "“The Cabin”", "href=\"daily://invite?code=\(code)\"", code] {
        #expect(page.text.contains(words), "\(words)")
      }
      #expect(!page.text.contains(number(4)))
    }
  }

  @Test func whoeverLooksForCodesIsTurnedAway() async throws {
    try await withStack(.sqlite) { stack in
      var statuses: [Int] = []
      for index in 0..<35 { statuses.append(try await stack.invites.get("/i/ZZZZ\(10 + index)").status) }
      #expect(statuses.count { $0 == 404 } == 30)
      #expect(statuses.count { $0 == 429 } == 5)
      let page = try await stack.invites.get("/i/ZZZZZZ")
      #expect(page.text.contains("A moment, please") && page.headers.contains(name: "retry-after"))
      // Tokens cannot be guessed, so their pages are not limited.
      #expect(try await stack.invites.get("/invite/inv_nothing").status == 404)
    }
  }

  /// The gateway's default limit: thirty requests a minute from one address, for all pages together.
  @Test(arguments: ["/invite/inv_x", "/i/x", "/invites/resolve?token=inv_x", "/api/v1/invites/x"])
  func publicLooksAreLimitedByAddress(path: String) async throws {
    try await withStack(.sqlite) { stack in
      var replies: [Browser.Reply] = []
      // One more is allowed every two seconds, which a busy machine may need for these.
      while replies.last?.status != 429, replies.count < 90 { replies.append(try await stack.gateway.get(path)) }
      #expect(replies.count > 30 && replies.dropLast().allSatisfy { $0.status == 404 })
      #expect(replies.last?.status == 429 && replies.last?.headers.contains(name: "retry-after") == true)
      // This document has no limit, because Apple's servers read it.
      #expect(try await stack.gateway.get("/apple-app-site-association").status == 200)
    }
  }

  @Test func troubleIsToldInWords() async throws {
    try await withStack(.sqlite) { stack in
      let alice = try await stack.signIn("alice")
      let link = try await alice.link(to: try await alice.collection())
      stack.dependencies.serviceAddresses.set(.groups, to: "http://127.0.0.1:9")
      let page = try await stack.gateway.get("/invite/\(link.token)")
      #expect(page.status == 503 && page.text.contains("be right back"))
    }
  }

  @Test func applesDocumentNamesTheAppsAndThePaths() async throws {
    try await withStack(.sqlite, settings) { stack in
      for path in ["/apple-app-site-association", "/.well-known/apple-app-site-association"] {
        let reply = try await stack.gateway.get(path)
        #expect(reply.status == 200 && reply.headers.first(name: "content-type") == "application/json")
        let links = try #require(reply["applinks"] as? [String: Any])
        let details = try #require((links["details"] as? [[String: Any]])?.first)
        #expect(details["appIDs"] as? [String] == ["A1B2C3D4E5.com.example.app", "A1B2C3D4E5.com.example.other"])
        #expect(details["components"] as? [[String: String]] == [["/": "/invite/*"], ["/": "/i/*"]])
        #expect(Set(details.keys) == ["appIDs", "components"])
      }
    }
  }
}
