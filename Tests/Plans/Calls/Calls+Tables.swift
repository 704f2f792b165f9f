import Database
import Foundation
import NIOHTTP1
import Support
import Wire

/// Groups, members and one's own account as rows of tables.
extension Calls {
  func groupTableCalls() async throws {
    let (alice, bob, carol) = (try await signIn(9), try await signIn(10), try await signIn(12))
    let (groups, members) = ("/rest/v1/social_groups", "/rest/v1/group_members")
    let counted = alice.browser.with(["Prefer": "count=exact,return=representation"])
    let made = try await counted.ok(.POST, groups, ["name": "Rows"])
    guard let row = made.list.first, let id = row["id"] as? String, let code = row["invite_code"] as? String else {
      throw Unexpected(reply: made.text)
    }
    for query in [
      "", "?select=*,group_members(*)&order=name&limit=10", "?id=eq.\(id)", "?invite_code=eq.\(code)", "?select=count",
      "?select=name,group_members!inner(user_id)&group_members.user_id=eq.\(alice.id)", "?or=(name.eq.a,name.like.b*)",
    ] {
      try await counted.ok(.GET, groups + query)
    }
    try await stack.gateway.ok(.GET, "/i/\(code)")
    for _ in 1...2 { try await bob.browser.ok(.POST, groups + "/join", ["invite_code": code]) }
    try await bob.browser.refused(.POST, groups + "/join", ["invite_code": "AAAAAA"])
    for query in [
      "", "?group_id=eq.\(id)", "?user_id=eq.\(bob.id)&select=*,social_groups(name)", "?order=joined_at",
      "?group_id=eq.\(id)&order=joined_at",
    ] {
      try await counted.ok(.GET, members + query)
    }
    try await counted.ok(.PATCH, groups + "?id=eq.\(id)", ["name": "Renamed", "description": "Again"])
    let merging = alice.browser.with(["Prefer": "resolution=merge-duplicates"])
    try await merging.ok(.POST, groups, ["id": id, "name": "Merged"])
    try await counted.ok(.PUT, groups + "?id=eq.\(id)", ["id": id, "name": "Put"])
    try await counted.ok(.DELETE, members + "?group_id=eq.\(id)&user_id=eq.\(bob.id)")
    let renewed = try await counted.send(
      .PATCH, groups + "?id=eq.\(id)", body: Data(#"{"invite_code":null}"#.utf8))
    let newCode = renewed.list.first?["invite_code"] as? String ?? ""
    try await carol.browser.ok(.POST, members, ["group_id": id, "invite_code": newCode])
    let ignoring = carol.browser.with(["Prefer": "resolution=ignore-duplicates"])
    try await ignoring.ok(
      .POST, members + "?on_conflict=group_id,user_id", ["group_id": id, "invite_code": newCode])
    try await bob.browser.refused(.POST, members, ["group_id": id, "invite_code": "AAAAAA"])
    try await carol.browser.ok(.DELETE, members + "?user_id=eq.\(carol.id)")
    try await alice.browser.ok(.DELETE, groups + "?id=eq.\(id)")
  }

  func userTableCalls() async throws {
    let alice = try await signIn(11)
    let counted = alice.browser.with(["Prefer": "count=exact,return=representation"])
    for query in ["", "?id=eq.\(alice.id)", "?email=eq.x", "?select=count"] {
      try await counted.ok(.GET, "/rest/v1/users\(query)")
    }
    try await counted.ok(.PATCH, "/rest/v1/users?id=eq.\(alice.id)", ["display_name": "Row"])
    let avatar = "https://kith.example/storage/v1/object/public/avatars/\(alice.id)/1.jpg"
    for url in [avatar, ""] {
      try await alice.browser.ok(.PATCH, "/api/v1/users/profile", ["avatar_url": url])
    }
    let replaced: SQL = "outbox where kind = 'avatar_replaced' and outcome = 'done'"
    try await eventually("the end of the avatar") { try await stack.count(replaced, in: "auth") == 1 }
  }
}
