import Foundation
import NIOCore
import Synchronization
import Wire

/// What clients tell each other on a channel: a broadcast, or who has come and gone. It is in no log.
final class ConversationMessage: Sendable {
  enum Content: Sendable {
    case broadcast(event: String, BroadcastContent)
    /// The payload of a `presence_diff`, as JSON.
    case presence(String)
  }

  private struct Key: Hashable {
    let version: PhoenixVersion
    let name: String
  }

  let topic: String
  let content: Content
  /// The socket that has sent it, in this process; nil for one elsewhere.
  let sender: ObjectIdentifier?
  private let frames = Mutex<[Key: ByteBuffer?]>([:])

  init(topic: String, _ content: Content, from sender: ObjectIdentifier? = nil) {
    self.topic = topic
    self.content = content
    self.sender = sender
  }

  /// nil where the client's version cannot express it.
  func frame(_ version: PhoenixVersion, on name: String) -> ByteBuffer? {
    let key = Key(version: version, name: name)
    return frames.withLock { frames in
      if let frame = frames[key] { return frame }
      let frame = encoded(version, on: name)
      frames[key] = .some(frame)
      return frame
    }
  }

  private func encoded(_ version: PhoenixVersion, on name: String) -> ByteBuffer? {
    switch content {
    case .broadcast(let event, .json(let text)):
      return PhoenixFrame.message(
        version, topic: name, event: "broadcast", payload: PhoenixPayload.broadcast(event, text))
    case .broadcast(let event, .binary(let bytes)):
      return version == .v2 ? PhoenixFrame.binaryBroadcast(topic: name, event: event, bytes) : nil
    case .presence(let diff):
      return PhoenixFrame.message(version, topic: name, event: "presence_diff", payload: diff)
    }
  }
}
