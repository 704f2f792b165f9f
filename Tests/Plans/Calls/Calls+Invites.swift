import Foundation
import NIOHTTP1
import Support
import Wire

extension Calls {
  func inviteCalls() async throws {
    let (alice, bob) = (try await signIn(10), try await signIn(11))
    try await shareLinkCalls(alice, bob)
    try await groupInviteCalls(alice, bob)
    try await listInviteCalls(try await signIn(12), bob)
    try await inside(stack.invites, as: "auth").ok(.GET, "/internal/users/\(bob.id)/data")
  }

  private func shareLinkCalls(_ alice: SignedInUser, _ bob: SignedInUser) async throws {
    let made = try await alice.browser.ok(.POST, "/collections", ["name": "Shared"])
    let path = "/collections/\(made.object("data")["id"] as? String ?? "")/invites"
    func link(_ more: [String: any Sendable] = [:]) async throws -> (id: String, token: String) {
      let role: [String: any Sendable] = ["role": "VIEW_ONLY"]
      let made = try await alice.browser.ok(.POST, path, role.merging(more) { $1 }).object("data")
      return (made["id"] as? String ?? "", made["token"] as? String ?? "")
    }
    let (first, second, third) = (try await link(), try await link(), try await link(["email": "u11@example.com"]))
    try await stack.gateway.ok(.GET, "/invites/resolve?token=\(first.token)")
    try await stack.gateway.ok(.GET, "/invite/\(first.token)")
    try await alice.browser.ok(.GET, path)
    try await bob.browser.ok(.POST, "/invites/\(second.id)/reject")
    try await bob.browser.ok(.POST, "/invites/\(third.id)/accept")
    try await alice.browser.ok(.DELETE, "\(path)/\(first.id)")
  }

  private func groupInviteCalls(_ alice: SignedInUser, _ bob: SignedInUser) async throws {
    let made = try await alice.browser.ok(.POST, "/api/groups", ["name": "Texted", "time_zone": "Etc/GMT"])
    let (group, number) = (made.string("id"), "+4790777001")
    try await alice.browser.ok(.POST, "/api/invites/check-users", ["phone_numbers": ["+4740100011", number]])
    let sent = try await alice.browser.ok(
      .POST, "/api/invites/send",
      ["group_id": group, "phone_numbers": [number], "existing_users": [[String: String]]()]
    )
    try await alice.browser.ok(.GET, "/api/invites/pending/\(group)")
    let code = (sent["sent_invites"] as? [[String: String]])?.first?["invite_code"] ?? ""
    try await stack.gateway.ok(.GET, "/i/\(code)")
    try await eventually("the text") { !texts(to: number).isEmpty }
    try await bob.browser.refused(.POST, "/api/invites/redeem/ZZZZZZ")
    try await bob.browser.ok(.POST, "/api/invites/redeem/\(code)")
    try await bob.browser.refused(.POST, "/api/invites/redeem/\(code)")
    let link = try await alice.browser.ok(.POST, "/api/groups/\(group)/invites")
    try await alice.browser.ok(.GET, "/api/groups/\(group)/invites")
    try await alice.browser.ok(.DELETE, "/api/groups/\(group)/invites/\(link.string("id"))")
    let request = TextInvitationRequest(
      group: GroupID(group) ?? .new(at: Date()), invitedBy: alice.id, number: "+4790777002",
      clientAddress: "127.0.0.1")
    try await inside(stack.invites, as: "groups").ok(.POST, "/internal/invites/texts", encoding: request)
  }

  private func listInviteCalls(_ alice: SignedInUser, _ bob: SignedInUser) async throws {
    let list = try await alice.browser.ok(.POST, "/api/v1/lists", ["list": ["name": "Shared"]]).id(in: "list")
    let path = "/api/v1/lists/\(list)/invites"
    func link() async throws -> [String: Any] {
      try await alice.browser.ok(.POST, path, ["invite": ["role": "editor"]]).object("invite")
    }
    let (first, second) = (try await link(), try await link())
    try await alice.browser.ok(.GET, path)
    let code = first["code"] as? String ?? ""
    try await stack.gateway.ok(.GET, "/api/v1/invites/\(code)")
    try await bob.browser.ok(.POST, "/api/v1/invites/\(code)/accept")
    try await alice.browser.ok(.DELETE, "\(path)/\((second["id"] as? NSNumber)?.intValue ?? 0)")
    try await alice.browser.ok(.DELETE, path)
    // Whoever has left becomes a member again by accepting.
    let members = "/api/v1/lists/\(list)/memberships"
    for number in [20, 21] {
      let invitee = try await signIn(number).browser
      let body = ["membership": ["user_identifier": "u\(number)@example.com", "role": "viewer"]]
      let member = try await alice.browser.ok(.POST, members, body).id(in: "membership")
      try await invitee.ok(.DELETE, "\(members)/\(member)")
      try await alice.browser.ok(.POST, members, body)
      let open = try await invitee.ok(.GET, "/api/v1/invites")["invites"] as? [[String: Any]] ?? []
      let code = open.first?["code"] as? String ?? ""
      try await invitee.ok(.POST, "/api/v1/invites/\(code)/\(number == 20 ? "decline" : "accept")")
    }
  }
}
