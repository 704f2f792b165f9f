import Testing

/// What a client sends, byte for byte, and the status that it must be answered with.
struct RawRequest: Sendable {
  /// A sentence that no other request has.
  let name: String
  let bytes: [UInt8]
  let status: Int

  init(_ name: String, _ text: String, status: Int) {
    self.init(name, bytes: Array(text.utf8), status: status)
  }

  /// For what is not UTF-8.
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
  /// Heads that no service may see. The gateway answers once and closes.
  static let refused: [RawRequest] = Array(
    [
      methods, requestLines, lineEnds, strangers, versions, forms, dotSegments, escapes, rawTargets, longTargets,
      hosts, addresses, names, spoofs, folds, values, doubles, sizes, lengths, codings, bothFramings, bodiesOfGet,
      connections, expectations, upgrades,
    ].joined())

  /// Heads that are in order, with bodies that are not. A service may see how such a request begins, and never its end.
  static let brokenBodies: [RawRequest] = Array([chunkSizes, chunkData, lastChunks, chunksOverTheLimit].joined())

  /// A good request, answered with 200, and behind it in the same bytes a bad one. The status is the last answer's.
  static let smuggled: [RawRequest] = Array([secondHeads, leftovers].joined())

  /// What looks odd and is in order: without it, a gateway that refuses everything would pass. Each asks for the
  /// connection to be closed, so that its answer can be read to the end.
  static let accepted: [RawRequest] = Array([plain, atTheLimit, withoutEffect].joined())
}

// MARK: Families

extension RawRequest {
  /// A request line before a Host in order.
  static func requestLine(_ name: String, _ line: String, status: Int = 400) -> RawRequest {
    RawRequest(name, "\(line)\r\nHost: kith.test\r\n\r\n", status: status)
  }

  static func target(_ name: String, _ target: String, status: Int = 400) -> RawRequest {
    requestLine(name, "GET \(target) HTTP/1.1", status: status)
  }

  static func host(_ name: String, _ value: String) -> RawRequest {
    RawRequest(name, "GET /echo HTTP/1.1\r\nHost: \(value)\r\n\r\n", status: 400)
  }

  /// A GET with these lines behind its Host.
  static func get(_ name: String, _ lines: String..., status: Int = 400) -> RawRequest {
    RawRequest(name, head("GET /echo", lines), status: status)
  }

  /// A POST with these lines behind its Host, and a body.
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

  /// A request that is in order, and what the client sends behind it without waiting.
  static func behind(
    _ name: String, _ second: String, after first: String = RawRequest.good, status: Int = 400
  ) -> RawRequest {
    RawRequest(name, "\(first)\(second)", status: status)
  }

  private static let good = head("GET /echo?n=1", [])

  static func head(_ start: String, _ lines: [String]) -> String {
    let fields = lines.map { "\($0)\r\n" }.joined()
    return "\(start) HTTP/1.1\r\nHost: kith.test\r\n\(fields)\r\n"
  }

  /// One byte, or some that are not text, between two texts.
  static func around(_ name: String, _ before: String, _ bytes: UInt8..., after: String, status: Int = 400)
    -> RawRequest
  {
    RawRequest(name, bytes: [UInt8](before.utf8) + bytes + [UInt8](after.utf8), status: status)
  }
}

extension UInt8 {
  var inHex: String { (self < 16 ? "0x0" : "0x") + String(self, radix: 16, uppercase: true) }
}
