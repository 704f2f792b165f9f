import Clients
import Database
import Foundation
import Support
import Testing
import Tokens
import Web
import Wire

@testable import Invites

/// Which users may be addressed by an id, and who is not added back to a group that they have left.
@Suite struct ContactVisibilityTests {
  private func send(
    _ existing: [[String: String]], to group: String, by user: SignedInUser
  ) async throws -> Browser.Reply {
    try await user.browser.post(
      "/api/invites/send", ["group_id": group, "phone_numbers": [String](), "existing_users": existing])
  }

  /// The status, code and messages of a response, without what differs from request to request.
  private func words(_ reply: Browser.Reply) -> [String] {
    let fields = (reply["errors"] as? [[String: String]] ?? []).map { "\($0["field"] ?? "") \($0["message"] ?? "")" }
    return ["\(reply.status)", reply.string("code"), reply.string("detail")] + fields
  }

  @Test(arguments: engines) func aStrangerIsNobody(engine: Engine) async throws {
    try await withTextingStack(engine) { texting in
      let (alice, bob) = (try await texting.signIn("Alice", number(1)), try await texting.signIn("Bob", number(2)))
      let group = try await alice.group()
      let nobody = words(try await send([["user_id": UUID().uuidString]], to: group, by: alice))
      #expect(nobody.first == "422")
      for named in [
        ["user_id": bob.id.description], ["user_id": bob.id.description, "phone_number": number(9)],
        ["user_id": bob.id.description, "phone_number": "x"],
      ] {
        let reply = try await send([named], to: group, by: alice)
        #expect(words(reply) == nobody, "\(named)")
      }
      let collection = try await alice.collection()
      let path = "/collections/\(collection)/invites"
      let stranger = try await alice.browser.post(path, ["inviteeUserId": "user_\(bob.id)"])
      let missing = try await alice.browser.post(path, ["inviteeUserId": "user_\(UUID())"])
      #expect(stranger.status == 400 && words(stranger) == words(missing))
      #expect(try await bob.browser.get("/api/groups").list.isEmpty)
    }
  }

  @Test(arguments: engines) func whoSharesSomethingOrWhoseNumberIsKnownIsSomebody(engine: Engine) async throws {
    try await withTextingStack(engine) { texting in
      let stack = texting.stack
      let alice = try await texting.signIn("Alice", number(1))
      let friends = try await concurrently(4) { try await texting.signIn("Friend", number(2 + $0)) }
      let group = try await alice.group()
      // Known by a list, by a collection, by an earlier lookup of the number, by the number in the request.
      let list = try await stack.list(of: alice)
      _ = try await stack.joinByLink(friends[0], to: list, of: alice)
      let collection = try await alice.collection()
      #expect(try await friends[1].accept(try await alice.link(to: collection)).status == 200)
      let checked = try await alice.browser.post("/api/invites/check-users", ["phone_numbers": [number(4)]])
      #expect(checked.status == 200)
      var names = friends.map { ["user_id": $0.id.description] }
      names[3]["phone_number"] = "+47 90 10 00 05"
      let added = try await send(names, to: group, by: alice)
      #expect(added.status == 200 && added.int("added_members") == 4, "\(added.text)")
      for friend in friends.prefix(3) {
        let bound = try await alice.browser.post(
          "/collections/\(collection)/invites", ["inviteeUserId": "user_\(friend.id)"])
        #expect(bound.status == 201)
      }
      // A lookup counts for thirty days.
      stack.clock.advance(by: .seconds(30 * 86_400))
      let (later, erin) = (try await texting.signIn("Alice", number(1)), try await texting.signIn("Erin", number(8)))
      _ = try await later.browser.post("/api/invites/check-users", ["phone_numbers": [number(8)]])
      stack.clock.advance(by: .seconds(30 * 86_400 + 1))
      let latest = try await texting.signIn("Alice", number(1))
      #expect(try await send([["user_id": erin.id.description]], to: group, by: latest).status == 422)
    }
  }

  /// Neither a lookup, nor a request with the id, nor a shared group confirms it.
  @Test(arguments: engines) func aHiddenNumberIsNotConfirmed(engine: Engine) async throws {
    try await withTextingStack(engine) { texting in
      let (alice, bob) = (try await texting.signIn("Alice", number(1)), try await texting.signIn("Bob", number(2)))
      #expect(
        try await bob.browser.send(.PATCH, "/api/v1/users/profile", json: ["discoverable": false]).status == 200)
      let group = try await alice.group()
      let id = bob.id.description
      _ = try await alice.browser.post("/api/invites/check-users", ["phone_numbers": [number(2), number(3)]])
      let right = try await send([["user_id": id, "phone_number": number(2)]], to: group, by: alice)
      let wrong = try await send([["user_id": id, "phone_number": number(3)]], to: group, by: alice)
      #expect(right.status == 422 && words(right) == words(wrong))
      #expect(try await send([["user_id": id]], to: group, by: alice).status == 422)
      // Bob may be addressed because they share a collection, but his number is not confirmed.
      let collection = try await alice.collection()
      #expect(try await bob.accept(try await alice.link(to: collection)).status == 200)
      let known = try await send([["user_id": id, "phone_number": number(2)]], to: group, by: alice)
      let guessed = try await send([["user_id": id, "phone_number": number(3)]], to: group, by: alice)
      #expect(known.status == 422 && words(known) == words(guessed) && words(known) != words(right))
      #expect(try await send([["user_id": id]], to: group, by: alice).int("added_members") == 1)
    }
  }

  @Test(arguments: engines) func whoHasLeftIsAskedBackAndNotPutBack(engine: Engine) async throws {
    try await withTextingStack(engine) { texting in
      let alice = try await texting.signIn("Alice", number(1))
      let (bob, carol) = (try await texting.signIn("Bob", number(2)), try await texting.signIn("Carol", number(3)))
      let group = try await alice.group()
      let names = [bob, carol].enumerated().map {
        ["user_id": $0.element.id.description, "phone_number": number(2 + $0.offset)]
      }
      #expect(try await send(names, to: group, by: alice).int("added_members") == 2)
      for gone in [bob, carol] { #expect(try await gone.browser.delete("/api/groups/\(group)").status == 200) }
      let before = texting.texts(to: number(2)).count
      let again = try await send([names[0]], to: group, by: alice)
      #expect(again.status == 200 && again.int("added_members") == 0)
      let invites = try #require(again["sent_invites"] as? [[String: String]])
      #expect(invites.map { $0["phone_number"] } == [number(2)])
      try await eventually("a text") { texting.texts(to: number(2)).count == before + 1 }
      #expect(try await bob.browser.get("/api/groups").list.isEmpty)
      let code = invites.first?["invite_code"] ?? ""
      #expect(try await bob.browser.post("/api/invites/redeem/\(code)").status == 200)
      // Nobody is invited without a known number or despite a block.
      let collection = try await alice.collection()
      #expect(try await carol.accept(try await alice.link(to: collection)).status == 200)
      let dora = try await texting.stack.signIn("dora")
      #expect(try await dora.accept(try await alice.link(to: collection)).status == 200)
      #expect(try await send([["user_id": dora.id.description]], to: group, by: alice).int("added_members") == 1)
      #expect(try await dora.browser.delete("/api/groups/\(group)").status == 200)
      let silent = try await send([["user_id": dora.id.description]], to: group, by: alice)
      #expect(silent.status == 200 && silent.int("added_members") == 0)
      #expect((silent["sent_invites"] as? [Any])?.isEmpty == true)
      #expect(try await carol.browser.post("/users/\(alice.id)/block").status == 200)
      let blocked = try await send([names[1]], to: group, by: alice)
      #expect(blocked.status == 200 && (blocked["sent_invites"] as? [Any])?.isEmpty == true)
    }
  }

  @Test(arguments: engines) func theOwnerUndoesTheirOwnRemovalAndNobodyElseDoes(engine: Engine) async throws {
    try await withTextingStack(engine) { texting in
      let stack = texting.stack
      let alice = try await stack.signIn("alice")
      let (bob, carol) = (try await stack.signIn("bob"), try await stack.signIn("carol"))
      let group = try await alice.group()
      let collection = try await alice.collection()
      for friend in [bob, carol] {
        #expect(try await friend.accept(try await alice.link(to: collection)).status == 200)
      }
      let both = [bob, carol].map { ["user_id": $0.id.description] }
      #expect(try await send(both, to: group, by: alice).int("added_members") == 2)
      func removeBob() async throws {
        #expect(try await alice.browser.delete("/api/groups/\(group)/members/\(bob.id)").status == 200)
      }
      try await removeBob()
      #expect(try await send([both[0]], to: group, by: carol).int("added_members") == 0)
      #expect(try await send([both[0]], to: group, by: alice).int("added_members") == 1)
      // A new owner cannot undo a removal, and an owner cannot undo a departure.
      try await removeBob()
      #expect(
        try await alice.browser.send(
          .PUT, "/api/groups/\(group)/owner", json: ["user_id": carol.id.description]
        ).status == 200)
      for user in [alice, carol] { #expect(try await send([both[0]], to: group, by: user).int("added_members") == 0) }
    }
  }

  /// Lists and groups are called only about users whom no number settles.
  @Test(arguments: engines) func whoKnowsANumberDoesNotWaitForLists(engine: Engine) async throws {
    try await withTextingStack(engine) { texting in
      let stack = texting.stack
      let (alice, bob) = (try await texting.signIn("Alice", number(1)), try await texting.signIn("Bob", number(2)))
      let (carol, dora) = (try await texting.signIn("Carol", number(3)), try await texting.signIn("Dora", number(4)))
      let group = try await alice.group()
      let looked = try await alice.browser.post("/api/invites/check-users", ["phone_numbers": [number(3)]])
      #expect(looked.status == 200)
      let serviceAddresses = stack.dependencies.serviceAddresses
      serviceAddresses.set(.lists, to: "http://127.0.0.1:1")
      let sent = try await send(
        [["user_id": bob.id.description, "phone_number": number(2)], ["user_id": carol.id.description]], to: group,
        by: alice)
      #expect(sent.status == 200 && sent.int("added_members") == 2, "\(sent.text)")
      let wrong = try await send(
        [["user_id": carol.id.description, "phone_number": number(9)]], to: group, by: alice)
      #expect(wrong.status == 422)
      // Strangers and unknown ids get the same answer, also when an older process answers that does not have the route.
      for url in ["http://127.0.0.1:1", stack.credits.base] {
        serviceAddresses.set(.lists, to: url)
        for id in [dora.id, UserID.new(at: stack.clock.now)] {
          for named in [["user_id": id.description], ["user_id": id.description, "phone_number": number(9)]] {
            #expect(try await send([named], to: group, by: alice).status == 503, "\(url) \(named)")
          }
        }
      }
      serviceAddresses.set(.groups, to: "http://127.0.0.1:1")
      let dependencies = stack.dependencies(of: "invites")
      let (settings, users) = (dependencies.settings, UsersClient(in: dependencies))
      let resolutions = try await stack.withInvites { database in
        let contactDiscovery = try ContactDiscovery(
          settings, database: database, quotas: .init(keys: try settings.dataKeys()), users: users)
        let contactVisibility = ContactVisibility(
          users: users, groups: GroupsClient(in: dependencies), lists: ListsClient(in: dependencies),
          contactDiscovery: contactDiscovery)
        return try await contactVisibility.resolve(
          [.init(id: bob.id, phone: number(2)), .init(id: carol.id), .init(id: alice.id)],
          for: Requester(user: alice.id, clientAddress: "here"), at: stack.clock.now)
      }
      let visible = resolutions.filter { resolution in
        if case .visible = resolution { return true }
        return false
      }
      #expect(visible.count == 3)
    }
  }
}
