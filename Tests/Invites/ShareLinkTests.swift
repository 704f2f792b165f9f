import Database
import Foundation
import Support
import Testing
import Wire

/// Links to collections, each for one user.
@Suite struct ShareLinkTests {
  @Test(arguments: engines) func aLinkIsMadeShownAndAccepted(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let collection = try await alice.collection()
      let made = try await alice.browser.post("/collections/\(collection)/invites", ["role": "VIEW_ONLY"])
      #expect(made.status == 201)
      let token = try #require(made.data["token"] as? String)
      let link = ShareLink(id: try #require(made.data["id"] as? String), token: token)
      #expect(link.id.hasPrefix("inv_") && token.hasPrefix("inv_") && token.utf8.count >= 26)
      #expect(made.data["deepLink"] as? String == "sampleart://invite/\(token)")
      #expect(made.data["appStoreFallbackUrl"] as? String == "https://apps.apple.com/app/id6749925767")
      #expect(made.data["status"] as? String == "PENDING" && made.data["role"] as? String == "VIEW_ONLY")
      let expiry = try #require(RFC3339.parse(made.data["expiresAt"] as? String ?? ""))
      #expect(abs(expiry.timeIntervalSince(stack.clock.now) - 7 * 86_400) < 60)
      #expect((made.data["expiresAt"] as? String)?.wholeMatch(of: /.*\.\d{3}Z/) != nil)

      let shown = try await stack.resolve(link)
      #expect(shown.status == 200)
      #expect(Set(shown.data.keys) == ["id", "collection", "inviter", "invitee", "role", "status", "expiresAt"])
      #expect(shown.data["id"] as? String == link.id && shown.data["invitee"] is NSNull)
      #expect(shown.data["collection"] as? [String: String] == ["id": collection, "name": "Modern Marbles"])
      let inviter = shown.data["inviter"] as? [String: String]
      #expect(inviter == ["id": "user_\(alice.id)", "email": "alice@example.com", "name": "alice"])

      let accepted = try await bob.accept(link)
      #expect(accepted.status == 200)
      #expect(
        accepted.data as? [String: String]
          == ["collectionId": collection, "role": "VIEW_ONLY", "status": "ACCEPTED"])
      #expect(try await bob.role(in: collection) == "VIEW_ONLY")
      #expect(try await stack.resolve(link).data["status"] as? String == "ACCEPTED")
      stack.clock.advance(by: .seconds(8 * 86_400))
      #expect(try await stack.resolve(link).status == 200)
    }
  }

  @Test(arguments: engines) func whoMayNotMakeOneIsToldWhyInOrder(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob, carol) = (
        try await stack.signIn("alice"), try await stack.signIn("bob"), try await stack.signIn("carol")
      )
      let collection = try await alice.collection()
      #expect(try await bob.accept(try await alice.link(to: collection)).status == 200)
      let path = "/collections/\(collection)/invites"
      #expect(try await stack.gateway.post(path, ["role": "OWNER"]).status == 401)
      for role in ["OWNER", "KING", "view_only"] {
        let refused = try await carol.browser.post("/collections/col_\(UUID())/invites", ["role": role])
        #expect(refused.status == 400, "\(role)")
      }
      #expect(try await alice.browser.send(.POST, path).status == 400)
      #expect(try await alice.browser.send(.POST, path, body: Data("{".utf8)).status == 400)
      for id in ["col_\(UUID())", "col_1", "x"] {
        let missing = try await alice.browser.post("/collections/\(id)/invites", ["role": "VIEW_ONLY"])
        #expect(missing.status == 404, "\(id)")
      }
      let stranger = try await carol.browser.post(path, ["role": "VIEW_ONLY"])
      #expect(stranger.status == 403 && stranger.string("detail") == "Forbidden")
      let member = try await bob.browser.post(path, ["role": "VIEW_ONLY"])
      #expect(member.status == 403 && member.string("detail") == "Insufficient permissions")
      for body in [[:], ["role": "EDITOR"]] as [[String: String]] {
        let made = try await alice.browser.post(path, body)
        #expect(made.status == 201 && made.data["role"] as? String == "VIEW_ONLY")
      }
    }
  }

  @Test(arguments: engines) func theSixthLinkInTenMinutesHasToWait(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let collections = [try await alice.collection("One"), try await alice.collection("Two")]
      _ = try await alice.link(to: collections[0])
      stack.clock.advance(by: .seconds(300))
      let statuses = try await atOnce(20) { number in
        try await alice.browser.post("/collections/\(collections[number % 2])/invites", ["role": "VIEW_ONLY"]).status
      }
      #expect(statuses.count { $0 == 201 } == 4)
      #expect(statuses.count { $0 == 429 } == 16)
      let refused = try await alice.browser.post("/collections/\(collections[0])/invites", ["role": "VIEW_ONLY"])
      let wait = try #require(refused.headers.first(name: "retry-after").flatMap(Int.init))
      #expect((200...300).contains(wait))
      let own = try await bob.collection("One")
      #expect(try await bob.link(to: own).id.hasPrefix("inv_"))
      // Five minutes later the first link is outside the window, and the other four are not.
      stack.clock.advance(by: .seconds(wait))
      _ = try await alice.link(to: collections[0])
      let again = try await alice.browser.post("/collections/\(collections[0])/invites", ["role": "VIEW_ONLY"])
      #expect(again.status == 429)
    }
  }

  @Test(arguments: engines) func aLinkEndsByItsTimeByAnAnswerOrByItsMaker(engine: Engine) async throws {
    try await withStack(engine) { stack in
      var (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let collection = try await alice.collection()
      let links = [
        try await alice.link(to: collection), try await alice.link(to: collection),
        try await alice.link(to: collection),
      ]
      #expect(try await stack.gateway.get("/invites/resolve").status == 400)
      #expect(try await stack.gateway.get("/invites/resolve?token=%20").status == 400)
      #expect(try await stack.gateway.get("/invites/resolve?token=inv_nothing").status == 404)
      #expect(try await stack.gateway.get("/invites/resolve?token=%20\(links[0].token)%20").status == 200)
      for id in ["inv_\(UUID())", "x"] {
        #expect(try await bob.browser.post("/invites/\(id)/accept").status == 404)
        #expect(try await bob.browser.post("/invites/\(id)/reject").status == 404)
      }
      #expect(try await stack.gateway.post("/invites/\(links[0].id)/accept").status == 401)

      let rejected = try await bob.reject(links[0])
      #expect(rejected.data as? [String: String] == ["collectionId": collection, "status": "REJECTED"])
      #expect(try await bob.reject(links[0]).status == 409)
      #expect(try await bob.accept(links[0]).status == 409)
      #expect(try await stack.resolve(links[0]).data["status"] as? String == "REJECTED")

      let path = "/collections/\(collection)/invites/\(links[1].id)"
      #expect(try await bob.browser.delete(path).status == 403)
      #expect(try await alice.browser.delete(path).status == 204)
      #expect(try await alice.browser.delete(path).status == 409)
      #expect(try await bob.accept(links[1]).status == 409)
      #expect(try await stack.resolve(links[1]).status == 410)

      stack.clock.advance(by: .seconds(7 * 86_400))
      (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      #expect(try await bob.accept(links[2]).status == 410)
      #expect(try await bob.reject(links[2]).status == 410)
      #expect(try await stack.resolve(links[2]).status == 410)
      #expect(try await stack.resolve(links[0]).status == 200)
      #expect(try await bob.role(in: collection) == nil)
      let list = try await alice.browser.get("/collections/\(collection)/invites/")
      let states = (list["data"] as? [[String: Any]])?.map { $0["status"] as? String }
      #expect(states == ["EXPIRED", "REVOKED", "REJECTED"])
      #expect(!list.text.contains(links[2].token))
      #expect(try await bob.browser.get("/collections/\(collection)/invites").status == 403)
    }
  }

  @Test(arguments: engines) func anInviteForSomebodyIsForNobodyElse(engine: Engine) async throws {
    // With a mail server, an unverified address belongs to nobody.
    let mail = ["SMTP_URL": "smtp://127.0.0.1:1", "MAIL_FROM": "kith@example.com"]
    try await withStack(engine, mail) { stack in
      // Mallory has signed up with the address without verifying it; Carol has verified it.
      let mallory = try await stack.signIn("carol")
      let (alice, bob) = (try await stack.signInWithApple("alice"), try await stack.signIn("bob"))
      let collection = try await alice.collection()
      let early = try await alice.link(to: collection, ["inviteeEmail": "carol@example.com"])
      #expect(try await mallory.accept(early).status == 403)
      let carol = try await stack.signInWithApple("carol")
      try await stack.shareCollection(alice, with: [bob])
      let byID = try await alice.link(to: collection, ["inviteeUserId": "user_\(bob.id)"])
      let byAddress = try await alice.link(to: collection, ["inviteeEmail": "CAROL@example.com"])
      for (link, stranger) in [(byID, carol), (byAddress, bob), (byAddress, mallory)] {
        #expect(try await stranger.accept(link).status == 403)
        #expect(try await stranger.reject(link).status == 403)
      }
      #expect(try await bob.accept(byID).status == 200)
      #expect(try await carol.accept(byAddress).status == 200)
      // An ended invite is reported before a wrong user.
      #expect(try await carol.accept(byID).status == 409)
      for body in [["inviteeUserId": "bob"], ["inviteeUserId": "user_\(UUID())"], ["inviteeEmail": "bob"]] {
        #expect(try await alice.browser.post("/collections/\(collection)/invites", body).status == 400, "\(body)")
      }
    }
  }

  /// As for invites to lists: without a mail server, the user who has signed up with an address counts as its owner.
  @Test(arguments: engines) func withoutMailAnAddressIsWhoseItIsSaidToBe(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob, carol) = (
        try await stack.signIn("alice"), try await stack.signIn("bob"), try await stack.signIn("carol")
      )
      let link = try await alice.link(to: try await alice.collection(), ["inviteeEmail": "CAROL@example.com"])
      #expect(try await bob.accept(link).status == 403)
      #expect(try await carol.accept(link).status == 200)
    }
  }

  /// An inviter who knows an id or an address creates a link for it and reads the link like everybody else.
  @Test(arguments: engines) func aLinkTellsStrangersNothingOfWhomItIsFor(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (mallory, bob) = (try await stack.signIn("mallory"), try await stack.signIn("bob"))
      #expect(
        try await bob.browser.send(.PATCH, "/api/v1/users/profile", json: ["display_name": "Bob Hansen"]).status == 200)
      _ = try await stack.signIn("carol")
      try await stack.shareCollection(mallory, with: [bob])
      let collection = try await mallory.collection()
      let byID = try await mallory.link(to: collection, ["inviteeUserId": "user_\(bob.id)"])
      let seen = try await stack.resolve(byID)
      let invitee = try #require(seen.data["invitee"] as? [String: Any])
      #expect(Set(invitee.keys) == ["id", "email", "name"])
      #expect(invitee["id"] as? String == "user_\(bob.id)" && invitee["name"] as? String == "Bob")
      #expect(invitee["email"] is NSNull && !seen.text.contains("Hansen"))
      // The responses for an address with an account and for one without are the same.
      for address in ["carol@example.com", "nobody@example.com"] {
        let byAddress = try await mallory.link(to: collection, ["inviteeEmail": address])
        let shown = try await stack.resolve(byAddress)
        #expect(shown.status == 200 && shown.data["invitee"] is NSNull, "\(address)")
      }
      let listed = try await mallory.browser.get("/collections/\(collection)/invites")
      #expect(listed.text.contains("user_\(bob.id)"))
      #expect(!listed.text.contains("Hansen") && !listed.text.contains("carol"))
    }
  }

  @Test(arguments: engines) func fiftyWhoAcceptOneLinkAreOne(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let guests = try await atOnce(50) { try await stack.signIn("guest\($0)") }
      let collection = try await alice.collection()
      let link = try await alice.link(to: collection)
      let statuses = try await atOnce(50) { try await guests[$0].accept(link).status }
      #expect(statuses.count { $0 == 200 } == 1)
      #expect(statuses.count { $0 == 409 } == 49)
      #expect(try await alice.browser.get("/collections/\(collection)/members").int("count") == 2)
    }
  }

  @Test(arguments: engines) func oneOfAcceptingAndRejectingHolds(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let bob = try await stack.signIn("bob")
      for round in 0..<12 {
        // A user may create at most five links.
        let host = try await stack.signIn("host\(round / 4)")
        let collection = try await host.collection("Round \(round)")
        let link = try await host.link(to: collection)
        let statuses = try await concurrently(2) {
          $0 == 0 ? try await bob.accept(link).status : try await bob.reject(link).status
        }
        #expect(statuses.sorted() == [200, 409])
        let isIn = try await bob.role(in: collection) != nil
        #expect(isIn == (statuses[0] == 200))
        #expect(try await stack.resolve(link).data["status"] as? String == (isIn ? "ACCEPTED" : "REJECTED"))
      }
    }
  }

  @Test(arguments: engines) func noRoleIsEverLoweredByALink(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let collection = try await alice.collection()
      #expect(try await bob.accept(try await alice.link(to: collection)).status == 200)
      let promoted = try await alice.browser.send(
        .PATCH, "/collections/\(collection)/members/user_\(bob.id)", json: ["role": "EDITOR"])
      #expect(promoted.status == 200)
      let again = try await bob.accept(try await alice.link(to: collection))
      #expect(again.status == 200 && again.data["role"] as? String == "EDITOR")
      let own = try await alice.accept(try await alice.link(to: collection))
      #expect(own.status == 200 && own.data["role"] as? String == "OWNER")
      #expect(try await alice.role(in: collection) == "OWNER")
      #expect(try await bob.role(in: collection) == "EDITOR")
    }
  }

  @Test(arguments: engines) func aKeyMakesOneLinkAndAcceptsOnce(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let path = "/collections/\(try await alice.collection())/invites"
      let browser = alice.browser.with(["Idempotency-Key": "one"])
      let first = try await browser.post(path, ["role": "VIEW_ONLY"])
      let again = try await browser.post(path, ["role": "VIEW_ONLY"])
      #expect(again.status == 201 && again.body == first.body)
      #expect(again.headers.first(name: "idempotency-hit") == "true")
      #expect(try await browser.post(path, ["role": "EDITOR"]).status == 422)
      let link = ShareLink(id: try #require(first.data["id"] as? String), token: "")
      let guest = bob.browser.with(["Idempotency-Key": "two"])
      let accepted = try await guest.post("/invites/\(link.id)/accept")
      let repeated = try await guest.post("/invites/\(link.id)/accept")
      #expect(accepted.status == 200 && repeated.status == 200 && accepted.body == repeated.body)
      #expect(try await bob.accept(link).status == 409)
    }
  }
}
