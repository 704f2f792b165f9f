import Testing

/// The bytes that a client sends, and the status that the gateway must respond with.
struct RawRequest: Sendable {
  /// A sentence that is unique in the corpus.
  let name: String
  let bytes: [UInt8]
  let status: Int

  init(_ name: String, _ text: String, status: Int) {
    self.init(name, bytes: Array(text.utf8), status: status)
  }

  /// For bytes that are not UTF-8.
  init(_ name: String, bytes: [UInt8], status: Int) {
    self.name = name
    self.bytes = bytes
    self.status = status
  }
}

extension RawRequest: CustomTestStringConvertible {
  var testDescription: String { name }
}

extension RawRequest {
  /// Invalid heads, which must not reach a service. The gateway responds once and closes the connection.
  static let refused: [RawRequest] = Array(
    [
      methods, requestLines, lineEnds, foreignProtocols, versions, forms, dotSegments, escapes, rawTargets, longTargets,
      hosts, addresses, names, disguisedNames, foldedLines, values, duplicateFields, sizes, lengths, codings,
      bothFramings, bodiesOfGet, connections, expectations, upgrades,
    ].joined())

  /// Valid heads with invalid bodies. A service may receive the beginning of such a request, but never its end.
  static let brokenBodies: [RawRequest] = Array([chunkSizes, chunkData, lastChunks, chunksOverTheLimit].joined())

  /// A valid request, with status 200, followed by an invalid one in the same bytes. The status is that of the second
  /// response.
  static let smuggled: [RawRequest] = Array([secondHeads, leftovers].joined())

  /// Unusual but valid requests: without them a gateway that refuses everything would pass. Each asks to close the
  /// connection, so that its response can be read to the end.
  static let accepted: [RawRequest] = Array([plain, atTheLimit, strippedFields].joined())
}

// MARK: Builders

extension RawRequest {
  /// A request line followed by a valid Host.
  static func requestLine(_ name: String, _ line: String, status: Int = 400) -> RawRequest {
    RawRequest(name, "\(line)\r\nHost: kith.test\r\n\r\n", status: status)
  }

  static func target(_ name: String, _ target: String, status: Int = 400) -> RawRequest {
    requestLine(name, "GET \(target) HTTP/1.1", status: status)
  }

  static func host(_ name: String, _ value: String) -> RawRequest {
    RawRequest(name, "GET /echo HTTP/1.1\r\nHost: \(value)\r\n\r\n", status: 400)
  }

  /// A GET with these lines after its Host.
  static func get(_ name: String, _ lines: String..., status: Int = 400) -> RawRequest {
    RawRequest(name, head("GET /echo", lines), status: status)
  }

  /// A POST with these lines after its Host, and a body.
  static func post(
    _ name: String, to path: String = "/count", _ lines: String..., body: String = "", status: Int = 400
  ) -> RawRequest {
    RawRequest(name, "\(head("POST \(path)", lines))\(body)", status: status)
  }

  /// A chunked POST.
  static func chunked(
    _ name: String, to path: String = "/count", _ body: String, status: Int = 400
  ) -> RawRequest {
    RawRequest(name, "\(head("POST \(path)", ["Transfer-Encoding: chunked"]))\(body)", status: status)
  }

  /// A valid request, and what the client sends after it without waiting.
  static func following(
    _ name: String, _ second: String, after first: String = RawRequest.good, status: Int = 400
  ) -> RawRequest {
    RawRequest(name, "\(first)\(second)", status: status)
  }

  private static let good = head("GET /echo?n=1", [])

  static func head(_ start: String, _ lines: [String]) -> String {
    let fields = lines.map { "\($0)\r\n" }.joined()
    return "\(start) HTTP/1.1\r\nHost: kith.test\r\n\(fields)\r\n"
  }

  /// One or more bytes between two texts; they need not be UTF-8.
  static func embedding(_ name: String, _ before: String, _ bytes: UInt8..., after: String, status: Int = 400)
    -> RawRequest
  {
    RawRequest(name, bytes: [UInt8](before.utf8) + bytes + [UInt8](after.utf8), status: status)
  }
}

extension UInt8 {
  var inHex: String { (self < 16 ? "0x0" : "0x") + String(self, radix: 16, uppercase: true) }
}
