import Foundation

/// What has happened in a topic, such as `lists:42`.
public struct LiveEvent: Sendable, Equatable {
  public let topic: String
  /// Such as `task_changed`. `hidden` for one that a block keeps from the user: it has no payload.
  public let name: String
  /// 1, 2, 3 … per topic, without holes.
  public let number: Int
  /// The same however often the event comes.
  public let id: String
  public let payload: JSONValue
}

/// What another reader of a topic has sent with ``Events/broadcast(_:_:on:)``. It is not kept, and has no number.
public struct LiveMessage: Sendable, Equatable {
  public let topic: String
  public let name: String
  public let payload: JSONValue
}

/// What a subscription tells.
public enum LiveUpdate: Sendable, Equatable {
  /// The connection is there: read the state now, and apply the events that follow once more.
  case connected
  case event(LiveEvent)
  /// Comes over a WebSocket only.
  case message(LiveMessage)
  /// Something was missed that the server does not have any more: read the state of the topic again.
  case gap(topic: String)
  /// The connection is lost, and a new one is tried by itself.
  case disconnected
  /// The right to read the topic has ended. The subscription ends with it.
  case ended(reason: String)
}
