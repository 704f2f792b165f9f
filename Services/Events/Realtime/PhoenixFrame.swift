import Foundation
import NIOCore
import NIOWebSocket
import Wire

/// Encodes messages to clients as whole WebSocket frames. A server's frames have no mask, so one buffer serves every
/// socket.
enum PhoenixFrame {
  /// - Parameter payload: a JSON object.
  static func message(
    _ version: PhoenixVersion, joinRef: String? = nil, ref: String? = nil, topic: String, event: String,
    payload: String
  ) -> ByteBuffer {
    let text =
      switch version {
      case .v1:
        #"{"topic":\#(quoted(topic)),"event":"\#(event)","payload":\#(payload),"ref":\#(quoted(ref))}"#
      case .v2: #"[\#(quoted(joinRef)),\#(quoted(ref)),\#(quoted(topic)),"\#(event)",\#(payload)]"#
      }
    return frame(.text, Array(text.utf8))
  }

  /// A broadcast of bytes, for clients of version 2. nil when a field is longer than its length can say.
  static func binaryBroadcast(topic: String, event: String, _ content: Data) -> ByteBuffer? {
    guard let topicLength = UInt8(exactly: topic.utf8.count), let eventLength = UInt8(exactly: event.utf8.count) else {
      return nil
    }
    // No metadata; the content is binary.
    return frame(
      .binary, [0x04, topicLength, eventLength, 0, 0] + Array(topic.utf8) + Array(event.utf8) + Array(content))
  }

  static let ping = frame(.ping, [])

  static func pong(_ data: ByteBuffer) -> ByteBuffer { frame(.pong, Array(buffer: data)) }

  static func close(_ code: WebSocketErrorCode) -> ByteBuffer {
    let number = UInt16(webSocketErrorCode: code)
    return frame(.connectionClose, [UInt8(number >> 8), UInt8(number & 0xFF)])
  }

  /// RFC 6455 §5.2.
  private static func frame(_ opcode: WebSocketOpcode, _ payload: [UInt8]) -> ByteBuffer {
    var buffer = ByteBuffer()
    buffer.reserveCapacity(payload.count + 10)
    buffer.writeInteger(0x80 | UInt8(webSocketOpcode: opcode))
    switch payload.count {
    case ...125: buffer.writeInteger(UInt8(payload.count))
    case ...65_535:
      buffer.writeInteger(UInt8(126))
      buffer.writeInteger(UInt16(payload.count))
    default:
      buffer.writeInteger(UInt8(127))
      buffer.writeInteger(UInt64(payload.count))
    }
    buffer.writeBytes(payload)
    return buffer
  }

  /// A JSON string; null for nil.
  static func quoted(_ text: String?) -> String {
    guard let text else { return "null" }
    let isPlain = text.utf8.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    guard !isPlain else { return "\"\(text)\"" }
    // `try?`: a string can always be encoded.
    return (try? JSON.encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
  }
}

/// The payloads of messages that every channel has.
enum PhoenixPayload {
  static func reply(_ isOK: Bool, response: String = "{}") -> String {
    #"{"status":"\#(isOK ? "ok" : "error")","response":\#(response)}"#
  }

  static func refusal(_ reason: String) -> String {
    reply(false, response: #"{"reason":\#(PhoenixFrame.quoted(reason))}"#)
  }

  /// - Parameter channel: the name of the channel without `realtime:`.
  static func system(_ isOK: Bool, _ feature: String, _ message: String, channel: String) -> String {
    """
    {"channel":\(PhoenixFrame.quoted(channel)),"extension":"\(feature)",\
    "message":\(PhoenixFrame.quoted(message)),"status":"\(isOK ? "ok" : "error")"}
    """
  }

  /// - Parameters:
  ///   - content: a JSON object.
  ///   - meta: a JSON object; only events of the feed have one.
  static func broadcast(_ event: String, _ content: String, meta: String? = nil) -> String {
    let meta = meta.map { #","meta":\#($0)"# } ?? ""
    return #"{"event":\#(PhoenixFrame.quoted(event)),"payload":\#(content),"type":"broadcast"\#(meta)}"#
  }

  static func gap(_ gap: LogGap) -> String {
    broadcast("gap", #"{"oldest":\#(gap.oldest),"seq":\#(gap.top),"epoch":"\#(gap.epoch)"}"#)
  }
}
