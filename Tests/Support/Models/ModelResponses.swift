import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle
import Wire

/// The responses that fakes of providers of models have in common.
enum ModelResponses {
  static func json(_ value: JSONValue, status: Int = 200, headers: [String: String] = [:]) throws -> Response {
    text(String(decoding: try value.data, as: UTF8.self), status: status, headers: headers)
  }

  static func text(_ text: String, status: Int, headers: [String: String] = [:]) -> Response {
    var response = Response(
      status: .init(code: status), headers: [.contentType: "application/json"],
      body: .init(byteBuffer: .init(string: text)))
    for (name, value) in headers { HTTPField.Name(name).map { response.headers[$0] = value } }
    return response
  }

  /// Each piece is flushed by itself. `breaksOff` ends the connection without the end of the body.
  static func stream(_ pieces: [[UInt8]], breaksOff: Bool = false) -> Response {
    Response(
      status: .ok, headers: [.contentType: "text/event-stream"],
      body: .init { writer in
        for piece in pieces {
          try await writer.write(ByteBuffer(bytes: piece))
          // So that the pieces arrive one by one, most of the time. No test depends on it.
          try await Task.sleep(for: .milliseconds(2))
        }
        if breaksOff { throw Unexpected(reply: "the connection is broken off, as the test wants") }
        try await writer.finish(nil)
      })
  }

  /// The head of an answer and half of its body.
  static func broken() -> Response {
    Response(
      status: .ok, headers: [.contentType: "application/json"],
      body: .init(contentLength: 1000) { writer in
        try await writer.write(ByteBuffer(string: #"{"candidates":[{"content":"#))
        throw Unexpected(reply: "the connection is broken off, as the test wants")
      })
  }

  static func never() async -> Response {
    // `try?`: the sleep is cancelled when the test ends.
    await cancelWhenGracefulShutdown { try? await Task.sleep(for: .seconds(3600)) }
    return Response(status: .serviceUnavailable)
  }

  /// The bytes in pieces of seven, which cut characters and lines.
  static func cut(_ text: String) -> [[UInt8]] {
    let bytes = Array(text.utf8)
    return stride(from: 0, to: bytes.count, by: 7).map { Array(bytes[$0..<min($0 + 7, bytes.count)]) }
  }
}

extension JSONValue {
  /// The texts of a list.
  var strings: [String] {
    guard case .array(let values) = self else { return [] }
    return values.compactMap(\.text)
  }

  var list: [JSONValue] {
    guard case .array(let values) = self else { return [] }
    return values
  }
}

/// A JPEG of one pixel, for pictures that nobody looks at.
package let tinyJPEG = Data([0xFF, 0xD8, 0xFF, 0xE0, 0x00, 0x10] + Array("JFIF".utf8) + [0x00, 0xFF, 0xD9])
