import Foundation
import NIOHTTP1
import Support
import Wire

/// A signed-in user with a socket through the gateway, as an app has one.
struct ChannelListener: Sendable {
  let user: SignedInUser
  let socket: SocketClient

  init(_ user: SignedInUser, _ stack: TestStack, version: String = "2.0.0") async throws {
    self.user = user
    socket = try await SocketClient.connect(port: stack.gateway.port, version: version)
  }

  /// Joins channels.
  ///
  /// - Parameter since: by default from the beginning of the log. For who was let in later, that is a gap up to when the
  ///   log is read, which may be after what happens next: nil, from now on.
  func join(_ topics: String..., since: Int? = 0, postgresChanges: String? = nil) async throws {
    for topic in topics {
      let changes = postgresChanges.map { #","postgres_changes":[\#($0)]"# } ?? ""
      let since = since.map { #","since":\#($0)"# } ?? ""
      let reply = try await socket.join("realtime:\(topic)", user.access, #""private":true\#(since)\#(changes)"#)
      guard reply.status == "ok" else { throw Unexpected(reply: "\(topic): \(reply.reason ?? "")") }
    }
  }

  /// The last event of that name, once it has come.
  func event(_ name: String, on topic: String) async throws -> SocketClient.Message {
    func found() -> SocketClient.Message? {
      socket.messages.last { $0.topic == "realtime:\(topic)" && $0.event == "broadcast" && $0.name == name }
    }
    try await eventually("\(name) on \(topic), which has \(names(on: topic))") { found() != nil }
    guard let event = found() else { throw Unexpected(reply: name) }
    return event
  }

  /// The payload of that event.
  func payload(_ name: String, on topic: String) async throws -> JSONValue {
    try await event(name, on: topic).payload["payload"] ?? .null
  }

  func names(on topic: String) -> [String] {
    socket.messages.filter { $0.topic == "realtime:\(topic)" && $0.event == "broadcast" }.compactMap(\.name)
  }

  /// The changes of rows on a channel.
  func changes(on topic: String) -> [JSONValue] {
    socket.messages.filter { $0.topic == "realtime:\(topic)" && $0.event == "postgres_changes" }
      .compactMap { $0.payload["data"] }
  }

  /// Everything that has come, as text.
  var received: String { socket.messages.map { "\($0.payload)" }.joined() }

  /// Waits until the channel is closed, and returns the reason.
  func end(of topic: String) async throws -> String? {
    func has(_ event: String) -> Bool {
      socket.messages.contains { $0.topic == "realtime:\(topic)" && $0.event == event }
    }
    try await eventually("the end of \(topic)") { has("phx_close") }
    let system = socket.messages.last { $0.topic == "realtime:\(topic)" && $0.event == "system" }
    return system?.payload["message"]?.string
  }
}

extension Browser {
  var port: Int { Int(base.split(separator: ":").last ?? "") ?? 0 }
}

extension SignedInUser {
  /// What an app of Supabase's sends to `/rest/v1`; it must succeed.
  @discardableResult
  func rest(_ method: HTTPMethod, _ path: String, _ body: JSONValue? = nil) async throws -> [[String: Any]] {
    let reply = try await browser.with(["Prefer": "return=representation"])
      .send(method, "/rest/v1/\(path)", body: try body.map { try $0.data })
    guard reply.status < 300 else { throw Unexpected(reply: "\(method) \(path): \(reply.status) \(reply.text)") }
    return reply.list.isEmpty ? [reply.json as? [String: Any] ?? [:]] : reply.list
  }

  /// The id of the row that a POST makes.
  func insert(_ table: String, _ body: JSONValue) async throws -> String {
    try await rest(.POST, table, body).first?["id"] as? String ?? ""
  }

  /// A hunt with one checkpoint, as a draft.
  func draftHunt(of group: String? = nil) async throws -> (id: String, code: String, checkpoint: String) {
    var hunt: JSONValue = ["title": "City", "checkpoints": [["title": "Find it", "points": 20]]]
    if let group { hunt = hunt.with(["group_id": .string(group)]) }
    let row = try await rest(.POST, "scavenger_hunts", hunt).first
    let id = row?["id"] as? String ?? ""
    let checkpoint = try await rest(.GET, "hunt_checkpoints?hunt_id=eq.\(id)").first
    return (id, row?["invite_code"] as? String ?? "", checkpoint?["id"] as? String ?? "")
  }

  /// A share of an arrival time, for an hour.
  func share(_ route: JSONValue, with recipients: UserID..., at now: Date) async throws -> String {
    try await insert(
      "eta_shares",
      [
        "route_data": route, "recipients": .array(recipients.map { .string($0.description) }),
        "expires_at": .string(now.addingTimeInterval(3600).formatted(.iso8601)),
      ])
  }
}
