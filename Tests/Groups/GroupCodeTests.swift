import Database
import Foundation
import Support
import Testing
import Wire

/// Joining by a group's code, guessing it, and the page that it opens.
@Suite struct GroupCodeTests {
  @Test(arguments: engines) func joiningAtOnceAddsEachPersonOnce(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let people = try await atOnce(6) { try await stack.signIn("guest\($0)") }
      let group = try await alice.groupRow("Ours")
      let replies = try await atOnce(48) { try await people[$0 % 6].join(group.code) }
      #expect(replies.allSatisfy { $0.status == 200 && $0.string("id") == group.id })
      let members = try await alice.members(of: group)
      #expect(members.count == 7 && Set(members) == Set(people.map(\.id.description) + [alice.id.description]))
      #expect(try await alice.rest(.GET, "social_groups?select=member_count").text == #"[{"member_count":7}]"#)
      let bob = try await stack.signIn("bob")
      let row = #"{"group_id":"\#(group.id)","invite_code":"\#(group.code.lowercased())"}"#
      let inserts = try await atOnce(20) { _ in try await bob.rest(.POST, "group_members", row) }
      #expect(inserts.count { $0.status == 201 } == 1)
      #expect(inserts.filter { $0.status != 201 }.allSatisfy { $0.status == 409 && $0.string("code") == "23505" })
      let mine = try await bob.rest(.GET, "group_members?user_id=eq.\(bob.id)&select=id")
      #expect(mine.list.count == 1)
      #expect(inserts.first { $0.status == 201 }?.list.first?["id"] as? String == mine.list.first?["id"] as? String)
      let ignored = try await bob.rest(
        .POST, "group_members?on_conflict=group_id,user_id", row,
        prefer: "resolution=ignore-duplicates,return=representation")
      #expect(ignored.status == 201 && ignored.text == "[]")
    }
  }

  @Test(arguments: engines) func guessingIsLimitedPerCaller(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob, carol) = (
        try await stack.signIn("alice"), try await stack.signIn("bob"), try await stack.signIn("carol")
      )
      let group = try await alice.groupRow("Ours")
      // Right codes do not count, in whatever spelling.
      for _ in 1...12 { #expect(try await carol.join(group.code).status == 200) }
      for number in 0..<5 {
        let wrong = try await bob.join("AAAA\(22 + number)")
        #expect(wrong.status == 404 && wrong.errorCode == "GROUP_NOT_FOUND")
        let row = #"{"group_id":"\#(group.id)","invite_code":"AAAA\#(33 + number)"}"#
        #expect(try await bob.rest(.POST, "group_members", row).status == 403)
      }
      // What is no id, but nearly one, is not compared with a code at all.
      for id in [" \(group.id)", "\(group.id) ", "{\(group.id)}"] {
        let row = #"{"group_id":"\#(id)","invite_code":"\#(group.code)"}"#
        let refused = try await bob.rest(.POST, "group_members", row)
        #expect(refused.status == 400 && refused.string("code") == "22P02", "\(id): \(refused.text)")
      }
      let late = try await bob.join(group.code)
      #expect(late.status == 429 && late.errorCode == "RATE_LIMIT_EXCEEDED")
      #expect(late.headers.contains(name: "retry-after"))
      let row = #"{"group_id":"\#(group.id)","invite_code":"\#(group.code)"}"#
      #expect(try await bob.rest(.POST, "group_members", row).status == 429)
      #expect(try await alice.members(of: group).count == 2)
      stack.clock.advance(by: .seconds(3601))
      let again = try await stack.signIn("bob")
      #expect(try await again.join(group.code).status == 200)
    }
  }

  @Test(arguments: engines) func concurrentGuessesCountEach(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let bob = try await stack.signIn("bob")
      let replies = try await atOnce(30) { try await bob.join("WRONG\($0 % 8 + 2)") }
      #expect(replies.count { $0.status == 404 } == 10)
      #expect(replies.count { $0.status == 429 } == 20)
    }
  }

  @Test(arguments: engines) func guessingIsLimitedInAllHoweverManyGuessAtOnce(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let guessers = try await atOnce(10) { try await stack.signIn("guest\($0)") }
      // None of the later ones is anybody's first.
      for guesser in guessers { #expect(try await guesser.join("AAAA22").status == 404) }
      try await stack.setTaken(275, ofQuota: "wrong group codes of all", in: "groups")
      let replies = try await atOnce(50) { try await guessers[$0 % 10].join("AAAA\(22 + $0 % 8)") }
      #expect(replies.count { $0.status == 404 } == 25)
      #expect(replies.count { $0.status == 429 } == 25)
      let full = try await stack.count("quota where name = 'wrong group codes of all' and taken = 300", in: "groups")
      #expect(full == 1)
    }
  }

  @Test(arguments: engines) func beyondTheTotalOnlyTheFirstGuessOfWhoHasProvenSomethingIsFree(
    engine: Engine
  ) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let (carol, dora) = (try await stack.signIn("carol"), try await stack.signIn("dora"))
      let group = try await alice.groupRow("Ours")
      #expect(try await alice.join("AAAA22").status == 404)
      try await stack.setTaken(300, ofQuota: "wrong group codes of all", in: "groups")
      try await withUnprovenUsers(of: [dora], in: stack) { _ in
        for code in ["AAAA22", group.code] { #expect(try await dora.join(code).status == 429, "\(code)") }
        let first = try await carol.join("AAAA22")
        #expect(first.status == 404)
        for code in ["AAAA22", group.code] { #expect(try await carol.join(code).status == 429, "\(code)") }
        #expect(try await bob.join(group.code).status == 200)
      }
      stack.clock.advance(by: .seconds(3601))
      #expect(try await stack.signIn("carol").join(group.code).status == 200)
    }
  }

  @Test(arguments: engines) func whatIsNoCodeIsNotFound(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let bob = try await stack.signIn("bob")
      for code in ["", " ", "A", "ÄÖÜ", "' or 1=1 --", String(repeating: "A", count: 5000)] {
        #expect(try await bob.join(code).status == 404, "\(code.prefix(20))")
      }
      #expect(try await bob.rest(.POST, "social_groups/join", "{}").status == 400)
      #expect(try await bob.rest(.POST, "social_groups/join", #"{"invite_code":5}"#).status == 400)
      #expect(try await bob.rest(.POST, "social_groups/join", "").status == 400)
    }
  }

  @Test(arguments: engines) func aNewCodeEndsTheOldOne(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let group = try await alice.groupRow("Ours")
      #expect(try await bob.join(group.code).status == 200)
      #expect(try await alice.rest(.DELETE, "group_members?user_id=eq.\(bob.id)").status == 204)
      #expect(try await bob.join(group.code).status == 403)
      stack.clock.advance(by: .seconds(1))
      let renewed = try await alice.rest(
        .PATCH, "social_groups?id=eq.\(group.id)&select=invite_code,qr_code", #"{"invite_code":null}"#)
      let code = renewed.list.first?["invite_code"] as? String ?? ""
      #expect(code.wholeMatch(of: /[A-HJ-NP-Z2-9]{6}/) != nil && code != group.code)
      #expect((renewed.list.first?["qr_code"] as? String)?.hasSuffix("/i/\(code)") == true)
      #expect(try await bob.join(group.code).status == 404)
      // The owner has made the new code after the removal.
      #expect(try await bob.join(code).status == 200)
    }
  }

  @Test(arguments: engines) func aBlockBetweenOwnerAndGuestHolds(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let group = try await alice.groupRow("Ours")
      #expect(try await bob.browser.post("/users/user_\(alice.id)/block").bool("success") == true)
      let refused = try await bob.join(group.code)
      #expect(refused.status == 403 && refused.errorCode == "PERMISSION_DENIED")
      let row = #"{"group_id":"\#(group.id)","invite_code":"\#(group.code)"}"#
      #expect(try await bob.rest(.POST, "group_members", row).status == 403)
      #expect(try await bob.browser.delete("/users/user_\(alice.id)/block").status < 300)
      #expect(try await bob.join(group.code).status == 200)
    }
  }

  @Test(arguments: engines) func theCodeOpensAPage(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("Alice")
      let group = try await alice.groupRow("The Cabin")
      let page = try await stack.gateway.get("/i/\(group.code.lowercased())")
      #expect(page.status == 200)
      for words in ["Alice invites you", "“The Cabin”", "href=\"daily://invite?code=\(group.code)\"", group.code] {
        #expect(page.text.contains(words), "\(words)")
      }
      #expect(try await stack.gateway.get("/internal/groups/codes/\(group.code)").status == 404)
      let inside = "/internal/groups/codes/\(group.code)"
      #expect(try await stack.groups.with(stack.with(key: "invites")).get(inside).string("group_id") == group.id)
      for key in ["plain", "lists"] {
        #expect(try await stack.groups.with(stack.with(key: key)).get(inside).status == 403)
      }
      _ = try await alice.rest(.DELETE, "social_groups?id=eq.\(group.id)")
      #expect(try await stack.gateway.get("/i/\(group.code)").status == 404)
      #expect(try await stack.gateway.get("/i/AAAAAA").status == 404)
    }
  }

  @Test(arguments: engines) func whoIsErasedLeavesTheGroupToOthers(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let (shared, own) = (try await alice.groupRow("Shared"), try await alice.groupRow("Alice alone"))
      #expect(try await bob.join(shared.code).status == 200)
      let auth = stack.groups.with(stack.with(key: "auth"))
      let exported = try await auth.get("/internal/users/\(alice.id)/data")
      #expect((exported["groups"] as? [[String: Any]])?.count == 2)
      #expect(try await auth.delete("/internal/users/\(alice.id)/data").status == 204)
      let left = try await bob.rest(.GET, "social_groups?select=name,created_by,member_count")
      #expect(left.text == #"[{"name":"Shared","created_by":null,"member_count":1}]"#)
      #expect(try await bob.members(of: shared) == [bob.id.description])
      #expect(try await bob.join(own.code).status == 404)
      let rows = try await stack.count("membership where user_id = \(alice.id)", in: "groups")
      #expect(rows == 0)
    }
  }
}
