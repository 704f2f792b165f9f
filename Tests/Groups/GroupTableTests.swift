import Clients
import Database
import Foundation
import NIOHTTP1
import Support
import Testing
import Wire

/// Groups and their members as tables, through the gateway.
@Suite struct GroupTableTests {
  @Test(arguments: engines) func aGroupIsMadeJoinedReadAndLeft(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let made = try await alice.rest(
        .POST, "social_groups", #"{"name":"Weekend Warriors","description":"Adventure group for weekend trips"}"#)
      #expect(made.status == 201)
      #expect(made.headers.first(name: "preference-applied") == "return=representation")
      let row = try #require(made.list.first)
      #expect(row["name"] as? String == "Weekend Warriors")
      #expect(row["description"] as? String == "Adventure group for weekend trips")
      #expect(row["created_by"] as? String == alice.id.description)
      #expect(row["member_count"] as? Int == 1)
      let (id, code) = (try #require(row["id"] as? String), try #require(row["invite_code"] as? String))
      #expect(code.wholeMatch(of: /[A-HJ-NP-Z2-9]{6}/) != nil)
      #expect(row["qr_code"] as? String == "http://127.0.0.1:8080/i/\(code)")
      #expect((row["created_at"] as? String)?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/) != nil)

      for _ in 1...2 {
        let joined = try await bob.join(" \(code.lowercased()) ")
        #expect(joined.status == 200 && joined.string("id") == id && joined.int("member_count") == 2)
      }
      let members = try await bob.rest(.GET, "group_members?group_id=eq.\(id)&order=joined_at,id")
      #expect(members.list.compactMap { $0["user_id"] as? String } == [alice.id.description, bob.id.description])
      let first = try #require(members.list.first)
      #expect(Set(first.keys) == ["id", "group_id", "user_id", "joined_at"])

      let embedded = try await bob.rest(.GET, "social_groups?select=name,group_members(user_id)&group_members.order=id")
      #expect((embedded.list.first?["group_members"] as? [Any])?.count == 2)
      #expect(embedded.headers.first(name: "cache-control") == "private, max-age=900")
      let tag = try #require(embedded.headers.first(name: "etag"))
      let again = try await bob.browser.with(["If-None-Match": tag])
        .get("/rest/v1/social_groups?select=name,group_members(user_id)&group_members.order=id")
      #expect(again.status == 304)
      let named = try await bob.rest(.GET, "group_members?select=social_groups(name)&user_id=eq.\(bob.id)")
      #expect(named.text == #"[{"social_groups":{"name":"Weekend Warriors"}}]"#)

      // It is no group of the app with a photo a day.
      #expect(try await alice.browser.get("/api/groups").list.isEmpty)
      #expect(try await alice.browser.get("/api/groups/\(id)").status == 404)
      #expect(try await alice.browser.put("/api/groups/\(id)", ["name": "x"]).status == 404)
      #expect(try await alice.browser.get("/api/groups/\(id)/daily-status").status == 403)
      #expect(try await alice.browser.get("/api/photos/\(id)/today").status == 403)

      let left = try await bob.rest(
        .DELETE, "group_members?group_id=eq.\(id)&user_id=eq.\(bob.id.description.uppercased())")
      #expect(left.status == 204)
      #expect(try await bob.rest(.GET, "social_groups").text == "[]")
      #expect(try await alice.rest(.GET, "social_groups?select=member_count").text == #"[{"member_count":1}]"#)
    }
  }

  @Test(arguments: engines) func aGroupHasNoLimitOfTwelveAndAPersonNoneOfFive(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let many = "[" + (1...8).map { #"{"name":"Group \#($0)"}"# }.joined(separator: ",") + "]"
      let made = try await alice.rest(.POST, "social_groups", many)
      #expect(made.status == 201 && made.list.count == 8)
      let id = try #require(GroupID(made.list[0]["id"] as? String ?? ""))
      let groups = GroupsClient(in: stack.dependencies(of: "invites"))
      for _ in 1...20 {
        let invite = JoinByInvite(inviteID: .new(at: Date()), invitedBy: alice.id)
        #expect(try await groups.join(id, .new(at: Date()), by: invite).outcome == .joined)
      }
      let counted = try await alice.rest(.HEAD, "group_members?group_id=eq.\(id)", prefer: "count=exact")
      #expect(counted.headers.first(name: "content-range") == "0-20/21")
      // They do not count where there is a limit; groups of the other app are in the table, with their own.
      for name in 1...5 { _ = try await alice.group("Daily \(name)") }
      #expect(try await alice.browser.post("/api/groups", ["name": "Sixth"]).string("code") == "too_many_groups")
      #expect(try await alice.rest(.GET, "social_groups?select=count").text == #"[{"count":13}]"#)
      let bob = try await stack.signIn("bob")
      let daily = try await alice.rest(.GET, "social_groups?name=eq.Daily%201&select=id,invite_code")
      let code = daily.list.first?["invite_code"] as? String ?? ""
      #expect(code.count == 8)
      #expect(try await bob.join(code).status == 200)
      let full = try #require(GroupID(daily.list.first?["id"] as? String ?? ""))
      for _ in 3...12 {
        let invite = JoinByInvite(inviteID: .new(at: Date()), invitedBy: alice.id)
        #expect(try await groups.join(full, .new(at: Date()), by: invite).outcome == .joined)
      }
      let carol = try await stack.signIn("carol")
      let refused = try await carol.join(code)
      #expect(refused.status == 400 && refused.errorCode == "VALIDATION_ERROR")
    }
  }

  /// A request that somebody may not make, and what it is answered with.
  private struct Refusal {
    let method: HTTPMethod
    let path: String
    var body: String?
    let status: Int
    var text: String?
    var code: String?
  }

  private func expect(_ refusals: [Refusal], _ user: SignedInUser, _ who: String) async throws {
    for refusal in refusals {
      let reply = try await user.rest(refusal.method, refusal.path, refusal.body)
      let what = "\(who): \(refusal.method) \(refusal.path) \(refusal.body ?? ""): \(reply.text)"
      #expect(reply.status == refusal.status, "\(what)")
      if let text = refusal.text { #expect(reply.text == text, "\(what)") }
      if let code = refusal.code { #expect(reply.string("code") == code, "\(what)") }
      if reply.status == 403 { #expect(reply.errorCode == "PERMISSION_DENIED", "\(what)") }
    }
  }

  @Test(arguments: engines) func nobodyReachesBeyondWhatTheyMay(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let (carol, dave) = (try await stack.signIn("carol"), try await stack.signIn("dave"))
      let group = try await alice.groupRow("Ours")
      for user in [bob, dave] { #expect(try await user.join(group.code).status == 200) }
      let rows = try await alice.rest(.GET, "group_members?group_id=eq.\(group.id)").list
      let row = rows.first { $0["user_id"] as? String == bob.id.description }?["id"] as? String ?? ""
      let removal = try await alice.rest(
        .DELETE, "group_members?group_id=eq.\(group.id)&user_id=eq.\(dave.id)", prefer: "return=representation")
      #expect(removal.status == 200 && removal.list.count == 1)

      func refusals(of user: SignedInUser, isMember: Bool) -> [Refusal] {
        let hidden = [
          Refusal(method: .GET, path: "social_groups?id=eq.\(group.id)", status: 200, text: "[]"),
          Refusal(method: .GET, path: "social_groups?invite_code=eq.\(group.code)", status: 200, text: "[]"),
          Refusal(method: .GET, path: "group_members?group_id=eq.\(group.id)", status: 200, text: "[]"),
          Refusal(method: .GET, path: "group_members?select=social_groups(*)", status: 200, text: "[]"),
          Refusal(
            method: .POST, path: "group_members", body: #"{"group_id":"\#(group.id)"}"#, status: 403, code: "42501"),
          Refusal(
            method: .POST, path: "group_members", body: #"{"group_id":"\#(group.id)","user_id":"\#(bob.id)"}"#,
            status: 403, code: "42501"),
        ]
        let forged = [
          Refusal(
            method: .PATCH, path: "social_groups?id=eq.\(group.id)", body: #"{"name":"Mine"}"#, status: 200, text: "[]"),
          Refusal(
            method: .PATCH, path: "social_groups?id=eq.\(group.id)", body: #"{"invite_code":null}"#, status: 200,
            text: "[]"),
          Refusal(method: .DELETE, path: "social_groups?id=eq.\(group.id)", status: 204),
          Refusal(
            method: .PUT, path: "social_groups?id=eq.\(group.id)", body: #"{"id":"\#(group.id)","name":"Mine"}"#,
            status: 409, code: "23505"),
          Refusal(
            method: .POST, path: "social_groups", body: #"{"id":"\#(group.id)","name":"Mine"}"#, status: 409,
            code: "23505"),
          Refusal(
            method: .POST, path: "social_groups", body: #"{"name":"x","created_by":"\#(alice.id)"}"#, status: 403,
            code: "42501"),
          Refusal(
            method: .POST, path: "social_groups", body: #"{"name":"x","member_count":9}"#, status: 403, code: "42501"),
          Refusal(method: .DELETE, path: "group_members?group_id=eq.\(group.id)&user_id=eq.\(alice.id)", status: 204),
          Refusal(
            method: .POST, path: "group_members",
            body: #"{"group_id":"\#(group.id)","user_id":"\#(alice.id)","invite_code":"\#(group.code)"}"#, status: 403,
            code: "42501"),
          Refusal(method: .PATCH, path: "group_members?id=eq.\(row)", body: "{}", status: 405),
        ]
        return isMember ? forged : hidden + forged
      }
      try await expect(refusals(of: bob, isMember: true), bob, "member")
      try await expect(refusals(of: carol, isMember: false), carol, "stranger")
      try await expect(
        [Refusal(method: .DELETE, path: "group_members?id=eq.\(row)", status: 204)], carol, "stranger")
      try await expect(refusals(of: dave, isMember: false), dave, "removed")
      // Who was removed does not come back by the same code, in neither way.
      #expect(try await dave.join(group.code).status == 403)
      let back = #"{"group_id":"\#(group.id)","invite_code":"\#(group.code)"}"#
      #expect(try await dave.rest(.POST, "group_members", back).status == 403)

      for path in ["social_groups", "group_members"] {
        #expect(try await alice.rest(.DELETE, path).string("code") == "21000")
        #expect(try await stack.gateway.get("/rest/v1/\(path)").status == 401)
      }
      #expect(try await alice.rest(.PATCH, "social_groups", #"{"name":"x"}"#).status == 400)
      // Nothing of it has changed the group.
      #expect(try await alice.members(of: group) == [alice.id.description, bob.id.description])
      let kept = try await alice.rest(.GET, "social_groups?select=name,invite_code,member_count")
      #expect(kept.text == #"[{"name":"Ours","invite_code":"\#(group.code)","member_count":2}]"#)
    }
  }

  @Test(arguments: engines) func theOwnerChangesAndClosesIt(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let group = try await alice.groupRow("Ours")
      #expect(try await bob.join(group.code).status == 200)
      let changed = try await alice.rest(
        .PATCH, "social_groups?id=eq.\(group.id)&select=name,description,invite_code",
        #"{"name":" Theirs ","description":null,"invite_code":"\#(group.code)","created_by":"\#(alice.id)"}"#)
      #expect(changed.text == #"[{"name":"Theirs","description":null,"invite_code":"\#(group.code)"}]"#)
      for (body, code) in [
        (#"{"name":""}"#, "23514"), (#"{"name":null}"#, "23502"), (#"{"invite_code":"AAAAAA"}"#, "428C9"),
        (#"{"name":"\#(String(repeating: "x", count: 101))"}"#, "23514"), (#"{"qr_code":"x"}"#, "428C9"),
        (#"{"created_by":"\#(bob.id)"}"#, "42501"), (#"{"nothing":1}"#, "PGRST204"),
      ] {
        let refused = try await alice.rest(.PATCH, "social_groups?id=eq.\(group.id)", body)
        #expect(refused.string("code") == code && refused["details"] != nil, "\(body) \(refused.text)")
      }
      for (body, code) in [
        ("{}", "23502"), (#"{"name":" "}"#, "23514"), (#"{"name":"x","invite_code":"AAAAAA"}"#, "428C9"),
        ("[", "PGRST102"), (#"{"id":"x","name":"x"}"#, "22P02"),
      ] {
        #expect(try await alice.rest(.POST, "social_groups", body).string("code") == code, "\(body)")
      }
      let upserted = try await alice.rest(
        .POST, "social_groups?select=name", #"{"id":"\#(group.id)","name":"Merged"}"#,
        prefer: "resolution=merge-duplicates,return=representation")
      #expect(upserted.status == 200 && upserted.text == #"[{"name":"Merged"}]"#)
      let closed = try await alice.rest(.DELETE, "social_groups?id=eq.\(group.id)", prefer: "return=representation")
      #expect(closed.status == 200 && closed.list.first?["name"] as? String == "Merged")
      for user in [alice, bob] {
        #expect(try await user.rest(.GET, "social_groups").text == "[]")
        #expect(try await user.rest(.GET, "group_members").text == "[]")
      }
      #expect(try await bob.join(group.code).errorCode == "GROUP_NOT_FOUND")
    }
  }

  @Test(arguments: engines) func anOwnerWhoRemovesEverybodyClosesTheGroup(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let people = [try await stack.signIn("alice"), try await stack.signIn("bob"), try await stack.signIn("carol")]
      let group = try await people[0].groupRow("Ours")
      for user in people.dropFirst() { #expect(try await user.join(group.code).status == 200) }
      let all = try await people[0].rest(
        .DELETE, "group_members?group_id=eq.\(group.id)", prefer: "return=minimal,count=exact")
      #expect(all.status == 204 && all.headers.first(name: "content-range") == "*/3")
      for user in people { #expect(try await user.rest(.GET, "social_groups").text == "[]") }
      // Whoever leaves first hands the group on.
      let other = try await people[1].groupRow("Others")
      #expect(try await people[2].join(other.code).status == 200)
      #expect(try await people[1].rest(.DELETE, "group_members?user_id=eq.\(people[1].id)").status == 204)
      #expect(
        try await people[2].rest(.PATCH, "social_groups?id=eq.\(other.id)&select=name", #"{"name":"Mine"}"#).text
          == #"[{"name":"Mine"}]"#)
    }
  }
}
