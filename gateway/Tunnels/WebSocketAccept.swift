import Crypto
import Foundation

/// The answer to the key of an opening handshake (RFC 6455 §4.2.2), by which a server shows that it has read the key as
/// that of a WebSocket. SHA-1 protects nothing here.
enum WebSocketAccept {
  private static let identifier = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

  static func value(for key: String) -> [UInt8] {
    Array(Data(Insecure.SHA1.hash(data: Data((key + identifier).utf8))).base64EncodedString().utf8)
  }
}
