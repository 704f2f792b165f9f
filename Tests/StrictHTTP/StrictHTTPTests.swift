import Fuzz
import StrictHTTP
import Support
import Testing

/// The parsers by themselves; the gateway's tests use them over sockets.
@Suite struct StrictHTTPTests {
  private static let good =
    "POST /a/b?c=d HTTP/1.1\r\nHost: kith.test\r\nContent-Length: 3\r\nX-Some:  thing \r\nConnection: x-hop\r\n"
    + "X-Hop: 1\r\n\r\n"

  @Test func aHeadIsReadInPlace() throws {
    let bytes = Array(Self.good.utf8)
    var head = RequestHead()
    #expect(try head.read((bytes + Array("abc".utf8)).span))
    #expect(head.byteCount == bytes.count)
    #expect(head.method == .POST)
    #expect(head.framing == .length(3))
    #expect(Self.text(bytes, head.target) == "/a/b?c=d")
    #expect(Self.text(bytes, head.path) == "/a/b")
    #expect(head.fields.list.map { Self.text(bytes, $0.value) } == ["kith.test", "3", "thing", "x-hop", "1"])
    #expect(head.fields.list.map(\.isConnectionOption) == [false, false, false, false, true])
    #expect(head.keepsAlive)
  }

  @Test func aHeadThatHasNotAllComeIsWaitedFor() throws {
    let bytes = Array(Self.good.utf8)
    var head = RequestHead()
    for count in 0..<bytes.count {
      let isWhole = try head.read(Array(bytes[..<count]).span)
      #expect(!isWhole, "\(count)")
    }
    #expect(try head.read(bytes.span))
  }

  @Test func aHeadOfSixteenKilobytesIsReadAndOneByteMoreIsNot() throws {
    let start = "GET / HTTP/1.1\r\nHost: x\r\nX-Long: "
    let fill = 16 * 1024 - start.utf8.count - 4
    var head = RequestHead()
    let most = Array((start + String(repeating: "a", count: fill) + "\r\n\r\n").utf8)
    #expect(most.count == 16 * 1024)
    #expect(try head.read(most.span))
    let more = Array((start + String(repeating: "a", count: fill + 1) + "\r\n\r\n").utf8)
    #expect(throws: HTTPParseError.headTooLarge) { try head.read(more.span) }
    // Also before its end has arrived.
    #expect(throws: HTTPParseError.headTooLarge) { try head.read(Array(more.dropLast(1)).span) }
  }

  @Test(arguments: ["200 OK", "204 No Content", "304 Not Modified"])
  func answersEndAsTheirHeadsSay(status: String) throws {
    let bytes = Array("HTTP/1.1 \(status)\r\nContent-Length: 5\r\nKeep-Alive: timeout=5\r\n\r\n".utf8)
    var head = ResponseHead()
    #expect(try head.read(bytes.span, isForHEAD: false))
    #expect(head.framing == (status == "200 OK" ? .length(5) : .none))
    #expect(head.declaredLength == 5)
    #expect(try head.read(bytes.span, isForHEAD: true))
    #expect(head.framing == .none)
  }

  @Test(
    arguments: [
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n", "HTTP/2.0 200 OK\r\n\r\n",
      "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 600 Odd\r\n\r\n", "HTTP/1.1 200 OK\nA: b\r\n\r\n", "HTTP/1.1  200 OK\r\n\r\n",
    ])
  func answersThatCouldBeReadTwiceAreNotRead(text: String) {
    var head = ResponseHead()
    #expect(throws: HTTPParseError.malformed) { try head.read(Array(text.utf8).span, isForHEAD: false) }
  }

  /// Several bytes are looked at at a time.
  @Test func aByteOfATargetMeansTheSameAtEveryPlace() throws {
    let refused = Set("\"<>\\^`{|}#%".utf8)
    for length in [5, 8, 21] {
      for (position, byte) in (1..<length).flatMap({ position in (UInt8.min...UInt8.max).map { (position, $0) } }) {
        var target = Array(("/" + String(repeating: "x", count: length - 1)).utf8)
        target[position] = byte
        var head = RequestHead()
        let bytes = Array("GET ".utf8) + target + Array(" HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
        // The space ends it, and a slash after the first is an empty segment.
        let isAllowed = byte > 0x20 && byte < 0x7F && !refused.contains(byte) && !(byte == 0x2F && position == 1)
        // `try?`: a refusal is what is tested.
        let isRead = (try? head.read(bytes.span)) == true
        #expect(isRead == isAllowed, "\(byte) at \(position) of \(length)")
        guard isRead else { continue }
        #expect(head.target.count == length)
        #expect(head.path.count == (byte == UInt8(ascii: "?") ? position : length))
      }
    }
  }

  @Test func aTargetOfEightKilobytesIsReadAndOneByteMoreIsNot() throws {
    for more in [0, 1] {
      let target = "/" + String(repeating: "a", count: HTTPLimits.targetBytesMax - 1 + more)
      let bytes = Array("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
      var head = RequestHead()
      if more == 0 {
        #expect(try head.read(bytes.span))
      } else {
        #expect(throws: HTTPParseError.targetTooLong) { try head.read(bytes.span) }
      }
    }
  }

  @Test func noBytesBreakWhatMustHold() {
    var random = SeededRandom(seed: 42)
    let seeds = [
      Self.good, "GET /%41?x HTTP/1.0\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
      "5\r\nhello\r\n1a\r\nabcdefghijklmnopqrstuvwxyz\r\n0\r\n\r\n",
    ].map { Array($0.utf8) }
    let specialBytes = Array("\r\n\0: ;%/.,\t\u{7f}0aA_-".utf8) + [0x80, 0xFF]
    var read = 0
    for _ in 0..<20_000 {
      var bytes = seeds[Int(random.next() % UInt64(seeds.count))]
      for _ in 0..<(random.next() % 4) {
        let index = Int(random.next() % UInt64(bytes.count))
        switch random.next() % 3 {
        case 0: bytes[index] = specialBytes[Int(random.next() % UInt64(specialBytes.count))]
        case 1: bytes.insert(specialBytes[Int(random.next() % UInt64(specialBytes.count))], at: index)
        default: if bytes.count > 1 { bytes.remove(at: index) }
        }
      }
      if let violation = ParserProperties.violation(by: bytes) { Issue.record("\(violation): \(bytes)") }
      var head = RequestHead()
      // `try?`: a refused head is not counted.
      if (try? head.read(bytes.span)) == true { read += 1 }
    }
    #expect(read > 1000, "the premise: many mutations are still requests")
  }

  private static func text(_ bytes: [UInt8], _ slice: HeadSlice) -> String {
    String(decoding: bytes[slice.start..<slice.end], as: UTF8.self)
  }
}
