import StrictHTTP

/// Properties that hold for any bytes. libFuzzer searches for bytes that violate them, and the tests check them with
/// mutated requests.
package enum ParserProperties {
  /// - Returns: the property that is violated, if any.
  package static func violation(by bytes: [UInt8]) -> String? {
    request(bytes) ?? answer(bytes) ?? chunks(bytes)
  }

  /// A head is parsed the same however its bytes arrive, and contains nothing ambiguous.
  private static func request(_ bytes: [UInt8]) -> String? {
    var head = RequestHead()
    guard (try? head.read(bytes.span)) == true else { return nil }
    let end = head.byteCount
    guard end <= HTTPLimits.clients.headBytesMax, bytes[..<end].suffix(4).elementsEqual("\r\n\r\n".utf8) else {
      return "head end"
    }
    var again = RequestHead()
    guard (try? again.read(Array(bytes[..<end]).span)) == true, again.byteCount == end else { return "read alone" }
    for cut in [end - 1, end / 2, end / 3] {
      guard (try? again.read(Array(bytes[..<cut]).span)) == false else { return "cut at \(cut)" }
    }
    guard bytes[head.target.start] == UInt8(ascii: "/"), head.path.end <= head.target.end else { return "target" }
    guard head.fields.list.count <= HTTPLimits.clients.fieldsMax else { return "too many fields" }
    for field in head.fields.list {
      guard field.value.start >= field.line.start, field.value.end + 2 <= field.line.end else { return "field bounds" }
      let line = bytes[field.line.start..<field.line.end]
      guard line.dropLast(2).allSatisfy({ $0 != 0x0D && $0 != 0x0A && $0 != 0 }) else { return "a line in a line" }
    }
    let names = head.fields.list.map(\.name)
    for name in [FieldName.host, .contentLength, .transferEncoding, .authorization] {
      guard names.filter({ $0 == name }).count <= 1 else { return "\(name) twice" }
    }
    guard !(names.contains(.contentLength) && names.contains(.transferEncoding)) else { return "two framings" }
    return nil
  }

  private static func answer(_ bytes: [UInt8]) -> String? {
    var head = ResponseHead()
    guard (try? head.read(bytes.span, isForHEAD: false)) == true else { return nil }
    guard (100...599).contains(head.status), head.byteCount <= bytes.count else { return "status" }
    guard (try? head.read(Array(bytes[..<(head.byteCount - 1)]).span, isForHEAD: false)) == false else {
      return "answer cut"
    }
    return nil
  }

  /// A chunked body decodes to the same bytes whole and byte by byte.
  private static func chunks(_ bytes: [UInt8]) -> String? {
    let whole = read(bytes, inPiecesOf: max(bytes.count, 1))
    let single = read(bytes, inPiecesOf: 1)
    guard whole.data == single.data, whole.ended == single.ended, whole.refused == single.refused else {
      return "chunks differ"
    }
    guard !whole.ended || whole.used == single.used else { return "chunks end differently" }
    return nil
  }

  private static func read(
    _ bytes: [UInt8], inPiecesOf size: Int
  ) -> (data: [UInt8], ended: Bool, refused: Bool, used: Int) {
    var body = ChunkedBodyDecoder()
    var data: [UInt8] = []
    var used = 0
    for start in stride(from: 0, to: bytes.count, by: size) {
      let piece = Array(bytes[start..<min(start + size, bytes.count)])
      var index = 0
      do {
        while let part = try body.next(piece.span, &index) {
          guard case .data(let range) = part else { return (data, true, false, used + index) }
          data += piece[range]
        }
      } catch {
        return (data, false, true, used + index)
      }
      used += index
    }
    return (data, body.hasEnded, false, used)
  }
}
