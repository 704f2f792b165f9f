import Foundation
import NIOHTTP1
import Support
import Wire

extension Calls {
  func groupCalls() async throws {
    let (alice, bob) = (try await signIn(6), try await signIn(7))
    let browser = alice.browser
    try await browser.ok(.GET, "/api/groups")
    let made = try await browser.ok(
      .POST, "/api/groups", ["name": "Plans", "time_zone": "Etc/GMT", "member_phone_numbers": ["+4740100007"]])
    let group = made.string("id")
    for path in ["/api/groups/\(group)", "/api/groups/\(group)/daily-status", "/api/photos/\(group)/today"] {
      try await browser.ok(.GET, path)
    }
    try await browser.ok(.PUT, "/api/groups/\(group)?name=Plan")
    try await photoCalls(alice, group)
    try await storedObjectCalls(alice)
    try await membershipCalls(alice, bob, group)
    try await collectionCalls(alice, bob)
    try await deviceCalls(alice)
    for path in ["/users/user_\(bob.id)/block", "/api/users/\(bob.id)/block"] {
      try await browser.ok(.POST, path)
      try await browser.ok(.DELETE, path)
    }
    try await inside(stack.groups, as: "lists")
      .ok(.POST, "/internal/groups/relations", encoding: RelationsQuery(user: alice.id, others: [bob.id]))
    let events = inside(stack.groups, as: "events")
    try await events.ok(.GET, "/internal/topics/access?topic=social_groups:\(group)&user_id=\(alice.id)")
    try await events.ok(.GET, "/internal/topics?user_id=\(alice.id)")
    try await events.ok(.GET, "/internal/topics/readers?topic=social_groups:\(group)")
    try await events.ok(.GET, "/internal/topics/readers?topic=collections:\(CollectionID.new(at: stack.clock.now))")
    try await inside(stack.groups, as: "auth").ok(.GET, "/internal/users/\(alice.id)/data")
  }

  private func photoCalls(_ alice: SignedInUser, _ group: String) async throws {
    let browser = alice.browser
    let photo = Data(base64Encoded: Self.photo, options: .ignoreUnknownCharacters) ?? Data()
    func path(_ url: String) -> String { url.range(of: "/api/").map { String(url[$0.lowerBound...]) } ?? url }
    func upload() async throws -> String {
      let reply = try await browser.ok(.POST, "/api/photos/upload-url", ["group_id": group])
      try await stack.gateway.send(.PUT, path(reply.string("upload_url")), body: photo)
      return reply.string("photo_id")
    }
    _ = try await upload()
    let id = try await upload()
    try await browser.ok(.POST, "/api/photos/confirm-upload", ["photo_id": id])
    let shown = try await browser.ok(.GET, "/api/photos/\(id)")
    try await stack.gateway.ok(.GET, path(shown.string("url")))
    try await browser.ok(.GET, "/api/photos/\(group)/today")
    try await browser.ok(.DELETE, "/api/photos/\(id)")
    let boundary = "Boundary-7E1F9D"
    var form = Data("--\(boundary)\r\nContent-Disposition: form-data; name=\"group_id\"\r\n\r\n\(group)\r\n".utf8)
    form += Data("--\(boundary)\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.jpg\"\r\n".utf8)
    form += Data("Content-Type: image/jpeg\r\n\r\n".utf8) + photo + Data("\r\n--\(boundary)--\r\n".utf8)
    let sent = try await browser.with(["Content-Type": "multipart/form-data; boundary=\(boundary)"])
      .send(.POST, "/api/photos/upload", body: form)
    guard sent.status == 200 else { throw Unexpected(reply: sent.text) }
  }

  private func storedObjectCalls(_ alice: SignedInUser) async throws {
    let photo = Data(base64Encoded: Self.photo, options: .ignoreUnknownCharacters) ?? Data()
    let (browser, path) = (alice.browser, "\(alice.id)/1.jpg")
    for _ in 0..<2 {
      let stored = try await browser.with(["Content-Type": "image/jpeg"])
        .send(.PUT, "/storage/v1/object/photos/\(path)", body: photo)
      guard stored.status == 200 else { throw Unexpected(reply: stored.text) }
    }
    try await browser.ok(.GET, "/storage/v1/object/photos/\(path)")
    try await browser.ok(.POST, "/storage/v1/object/list/photos", ["prefix": "\(alice.id)"])
    try await browser.ok(.DELETE, "/storage/v1/object/photos", ["prefixes": [path]])
  }

  private func membershipCalls(_ alice: SignedInUser, _ bob: SignedInUser, _ group: String) async throws {
    let invites = inside(stack.groups, as: "invites")
    let member = "/internal/groups/\(group)/members/\(bob.id)"
    try await alice.browser.ok(.DELETE, "/api/groups/\(group)/members/\(bob.id)")
    try await invites.ok(.GET, member)
    let (now, carol) = (stack.clock.now + 1, try await signIn(8))
    let join = JoinByInvite(
      inviteID: .new(at: now), claimID: .new(at: now), invitedBy: alice.id, madeAt: now, isLink: true)
    for _ in 0..<2 { try await invites.ok(.PUT, member, encoding: join) }
    let several = AddToGroup(users: [carol.id], addedBy: alice.id)
    try await invites.ok(.POST, "/internal/groups/\(group)/departed", encoding: several)
    try await invites.ok(.POST, "/internal/groups/\(group)/members", encoding: several)
    try await alice.browser.ok(.PUT, "/api/groups/\(group)/owner", ["user_id": bob.id.description])
    try await carol.browser.ok(.DELETE, "/api/groups/\(group)")
    try await bob.browser.ok(.DELETE, "/api/groups/\(group)")
    let other = try await alice.browser.ok(.POST, "/api/groups", ["name": "Closed", "time_zone": "Etc/GMT"])
    try await alice.browser.ok(.POST, "/api/groups/\(other.string("id"))/close")
  }

  private func collectionCalls(_ alice: SignedInUser, _ bob: SignedInUser) async throws {
    let browser = alice.browser
    func make(_ name: String) async throws -> String {
      let made = try await browser.ok(.POST, "/collections", ["name": name])
      return made.object("data")["id"] as? String ?? ""
    }
    let (first, second) = (try await make("Plans"), try await make("More plans"))
    try await browser.ok(.GET, "/collections?skip=0&take=5")
    try await browser.ok(.GET, "/collections/\(first)")
    try await browser.ok(.PATCH, "/collections/\(first)", ["name": "Plan"])
    let invites = inside(stack.groups, as: "invites")
    func internalMember(_ collection: String) -> String {
      let id = CollectionID(collection, prefix: .collection)?.description ?? ""
      return "/internal/collections/\(id)/members/\(bob.id)"
    }
    func join() -> JoinByInvite {
      let now = stack.clock.now
      return JoinByInvite(
        inviteID: .new(at: now), claimID: .new(at: now), invitedBy: alice.id, madeAt: now, isLink: true, role: .editor)
    }
    for collection in [first, second] {
      try await invites.ok(.GET, internalMember(collection))
      let join = join()
      for _ in 0..<2 { try await invites.ok(.PUT, internalMember(collection), encoding: join) }
    }
    let path = "/collections/\(first)/members"
    let members = try await browser.ok(.GET, path)["data"] as? [[String: Any]] ?? []
    for id in members.filter({ $0["role"] as? String == "EDITOR" }).compactMap({ $0["id"] as? String }) {
      try await browser.ok(.PATCH, "\(path)/\(id)", ["role": "VIEW_ONLY"])
    }
    // Another invite raises the role.
    try await invites.ok(.PUT, internalMember(first), encoding: join())
    try await browser.ok(.PATCH, "\(path)/user_\(bob.id)", ["role": "VIEW_ONLY"])
    try await browser.ok(.DELETE, "\(path)/user_\(bob.id)")
    try await browser.ok(.DELETE, "/collections/\(first)")
    // The second collection gets another owner when alice's account is deleted.
  }

  private func deviceCalls(_ alice: SignedInUser) async throws {
    let (browser, token) = (alice.browser, String(repeating: "ab", count: 32))
    try await browser.ok(.POST, "/api/devices/register", ["device_token": token, "platform": "ios"])
    try await browser.ok(.GET, "/api/devices")
    try await browser.ok(.DELETE, "/api/devices/unregister?device_token=\(token)")
    let body: [String: any Sendable] = ["device": ["apns_token": token, "platform": "ios"]]
    let device = try await browser.ok(.POST, "/api/v1/devices", body)
    _ = try await browser.delete("/api/v1/devices/\(device.int("id") ?? device.id(in: "device"))")
    _ = try await browser.delete("/api/v1/devices/\(UUID().uuidString)")
  }

  /// A JPEG of 128 × 48 pixels.
  private static let photo = """
    /9j/2wBDAAoHBwgHBgoICAgLCgoLDhgQDg0NDh0VFhEYIx8lJCIfIiEmKzcvJik0KSEiMEExNDk7Pj4+JS5ESUM8SDc9Pjv/2wBDAQoLCw4NDh
    wQEBw7KCIoOzs7Ozs7Ozs7Ozs7Ozs7Ozs7Ozs7Ozs7Ozs7Ozs7Ozs7Ozs7Ozs7Ozs7Ozs7Ozs7Ozv/wAARCAAwAIADASIAAhEBAxEB/8QAHwAA
    AQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2
    JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKz
    tLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QAHwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL/8QAtR
    EAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5OkNERUZHSElK
    U1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk5e
    bn6Onq8vP09fb3+Pn6/9oADAMBAAIRAxEAPwDn6KKK8k/QAooooAKKKKACiiigDHooor9WPzUKKKKACiiigAooooA2KKKK/KT9KCiiigAooooA
    KKKKAMeiiiv1Y/NQooooAKKKKACiiigDYooor8pP0oKKKKACiiigAooooAx6KKK/Vj81CiiigAooooAKKKKAP//Z
    """
}
