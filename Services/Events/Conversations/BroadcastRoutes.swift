import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOFoundationCompat
import Web
import Wire

/// `POST /realtime/v1/api/broadcast`, by which services and users send broadcasts without a socket.
struct BroadcastRoutes: Sendable {
  let conversations: Conversations
  let rights: TopicRights
  let allowances: BroadcastAllowances
  let metrics: EventMetrics

  private static let messagesMax = 100

  func add(to routes: HTTPRoutes) {
    routes.post("/realtime/v1/api/broadcast", use: several)
    routes.post("/realtime/v1/api/broadcast/{topic}/events/{event}", use: one)
  }

  private struct Messages: Decodable {
    struct Message: Decodable {
      let topic: String
      let event: String
      let payload: JSONValue
    }

    let messages: [Message]
  }

  @Sendable private func several(_ request: Request, _ context: Context) async throws -> Response {
    let (sender, messages) = try await metrics.counting {
      let sender = try Sender(context)
      return (sender, try await request.json(Messages.self, bytesMax: SocketSettings.frameBytesMax).messages)
    }
    guard messages.count <= Self.messagesMax else {
      metrics.refused(.messages)
      throw Failure(
        .limited, "too_many_messages", "Too many messages to broadcast, please reduce the batch size",
        retryAfterSeconds: 1)
    }
    try requireAllowance(of: sender, for: messages.count)
    var broadcasts: [(topic: TopicName, broadcast: PhoenixMessage.Broadcast)] = []
    for (index, message) in messages.enumerated() {
      guard let broadcast = PhoenixMessage.Broadcast(event: message.event, message.payload), broadcast.isAllowed else {
        metrics.refused(.malformed)
        throw Failure.invalid(.init("messages.\(index)", "must have an event and an object as payload"))
      }
      broadcasts.append((try await topic(message.topic, sender), broadcast))
    }
    for (topic, broadcast) in broadcasts { publish(broadcast, topic) }
    return Response(status: .accepted)
  }

  @Sendable private func one(_ request: Request, _ context: Context) async throws -> Response {
    let sender = try await metrics.counting { try Sender(context) }
    try requireAllowance(of: sender, for: 1)
    let name = (context.parameters.get("topic") ?? "").removingPercentEncoding ?? ""
    let topic = try await topic(name, sender)
    let event = (context.parameters.get("event") ?? "").removingPercentEncoding ?? ""
    let broadcast = try await metrics.counting { try await Self.broadcast(event, in: request) }
    guard let broadcast, broadcast.isAllowed else {
      metrics.refused(.malformed)
      throw Failure.invalid(.init("event", "must be a name"))
    }
    publish(broadcast, topic)
    return Response(status: .accepted)
  }

  /// Before it is asked who may read the topics, so that refused messages count as well. Services have no limit.
  private func requireAllowance(of sender: Sender, for count: Int) throws(Failure) {
    guard case .user(let user) = sender, !allowances.spend(count, of: user) else { return }
    metrics.refused(.messages)
    throw Failure(.limited, "too_many_messages", "You have exceeded your rate limit", retryAfterSeconds: 1)
  }

  /// The content as JSON or as bytes.
  private static func broadcast(_ event: String, in request: Request) async throws -> PhoenixMessage.Broadcast? {
    guard request.headers[.contentType]?.lowercased().hasPrefix("application/octet-stream") == true else {
      let payload = try await request.json(JSONValue.self, bytesMax: SocketSettings.frameBytesMax)
      return PhoenixMessage.Broadcast(event: event, payload)
    }
    var request = request
    let body = try await request.bufferBody(upTo: SocketSettings.frameBytesMax)
    return PhoenixMessage.Broadcast(event: event, content: .binary(Data(buffer: body)))
  }

  private func publish(_ broadcast: PhoenixMessage.Broadcast, _ topic: TopicName) {
    conversations.publish(
      ConversationMessage(topic: topic.text, .broadcast(event: broadcast.event, broadcast.content)))
  }

  /// - Throws: 422 for what is no topic of clients, 403 when the user may not read it.
  private func topic(_ name: String, _ sender: Sender) async throws -> TopicName {
    guard let topic = TopicName(name.trimmingPrefix("realtime:")), topic.kind.isConversation else {
      metrics.refused(.name)
      throw Failure.invalid(.init("topic", "must be one like lists:42"))
    }
    guard case .user(let user) = sender else { return topic }
    try await metrics.counting {
      guard try await rights.mayRead(topic, user) else { throw Failure.forbidden }
    }
    return topic
  }

  private enum Sender {
    case service
    case user(UserID)

    /// - Throws: 401 for anybody else.
    init(_ context: Context) throws(Failure) {
      switch context.caller {
      case .user(let user, _): self = .user(user)
      case .rejected(let failure): throw failure
      // The gateway presents a key of its own with the requests of others.
      case .anonymous:
        guard let service = context.service, service.name != "gateway" else { throw .unauthorized }
        self = .service
      }
    }
  }
}
