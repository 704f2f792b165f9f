import HTTPTypes
import Hummingbird
import NIOCore
import StrictHTTP
import Wire

extension ByteBuffer {
  /// Writes a status line and header fields (RFC 9112 §4).
  ///
  /// - Parameter connection: the value of `Connection`; nil for none.
  mutating func writeHead(
    of response: Response, framing: OutgoingResponse.BodyFraming, date: String, connection: StaticString?
  ) {
    // Put together first, as each write to the buffer looks at who else has it, and for how much it has room.
    var head: [UInt8] = []
    head.reserveCapacity(512)
    head.append("HTTP/1.1 ")
    head.append(utf8: String(response.status.code))
    head.append(" ")
    let phrase = response.status.reasonPhrase
    head.append(utf8: phrase.isEmpty ? ReasonPhrase.of(response.status.code) : phrase)
    head.append("\r\ndate: ")
    head.append(utf8: date)
    for field in response.headers where !isWrittenByConnection(field.name, response.status) {
      head.append("\r\n")
      head.append(utf8: field.name.rawName)
      head.append(": ")
      head.append(utf8: field.value)
    }
    if let connection {
      head.append("\r\nconnection: ")
      head.append(connection)
    }
    head.append(framing.isChunked ? "\r\ntransfer-encoding: chunked\r\n\r\n" : "\r\n\r\n")
    writeBytes(head)
  }

  /// The same of a response whose header fields are lines already.
  mutating func writeHead(of response: LoopResponse, date: String, connection: StaticString?) {
    reserveCapacity(minimumWritableBytes: response.lines.count + 128)
    if response.status == 200 {
      writeStaticString("HTTP/1.1 200 OK")
    } else {
      writeString("HTTP/1.1 \(response.status) \(ReasonPhrase.of(response.status))")
    }
    writeStaticString("\r\ndate: ")
    writeString(date)
    writeBytes(response.lines)
    if let connection {
      writeStaticString("\r\nconnection: ")
      writeStaticString(connection)
    }
    writeStaticString("\r\n\r\n")
  }

  /// `Content-Length` is kept where it says how long a body is, or, after HEAD, would be (RFC 9110 §8.6).
  private func isWrittenByConnection(_ name: HTTPField.Name, _ status: HTTPResponse.Status) -> Bool {
    switch name {
    case .connection, .date, .transferEncoding: true
    case .contentLength: status.code < 200 || status.code == 204 || status.code == 304
    default: false
    }
  }
}

extension OutgoingResponse.BodyFraming {
  fileprivate var isChunked: Bool {
    if case .chunked = self { true } else { false }
  }
}
