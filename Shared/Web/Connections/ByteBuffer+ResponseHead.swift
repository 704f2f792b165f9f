import HTTPTypes
import Hummingbird
import NIOCore
import StrictHTTP

extension ByteBuffer {
  /// Writes a status line and header fields (RFC 9112 §4).
  ///
  /// - Parameter connection: the value of `Connection`; nil for none.
  mutating func writeHead(
    of response: Response, framing: OutgoingResponse.BodyFraming, date: String, connection: StaticString?
  ) {
    writeStaticString("HTTP/1.1 ")
    writeDecimal(response.status.code)
    writeStaticString(" ")
    let phrase = response.status.reasonPhrase
    writeString(phrase.isEmpty ? ReasonPhrase.of(response.status.code) : phrase)
    writeStaticString("\r\ndate: ")
    writeString(date)
    for field in response.headers where !isWrittenByConnection(field.name, response.status) {
      writeStaticString("\r\n")
      writeString(field.name.rawName)
      writeStaticString(": ")
      writeString(field.value)
    }
    if let connection {
      writeStaticString("\r\nconnection: ")
      writeStaticString(connection)
    }
    writeStaticString(framing.isChunked ? "\r\ntransfer-encoding: chunked\r\n\r\n" : "\r\n\r\n")
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
