import Gateway
import NIOCore
import Testing

/// Parses replies of Redis, whole and in parts.
@Suite struct RESPTests {
  private static let replies: [(String, RESP)] = [
    ("+OK\r\n", .simple("OK")), ("+\r\n", .simple("")), ("-ERR no\r\n", .error("ERR no")), (":0\r\n", .integer(0)),
    (":-1\r\n", .integer(-1)), (":9223372036854775807\r\n", .integer(.max)),
    (":-9223372036854775808\r\n", .integer(.min)), ("$0\r\n\r\n", .bulk([])), ("$-1\r\n", .null),
    ("$3\r\na\rb\r\n", .bulk([0x61, 0x0D, 0x62])), ("$2\r\n\r\n\r\n", .bulk([0x0D, 0x0A])), ("*0\r\n", .array([])),
    ("*-1\r\n", .null), ("*2\r\n:1\r\n:600000000\r\n", .array([.integer(1), .integer(600_000_000)])),
    ("*2\r\n*1\r\n$1\r\nx\r\n*1\r\n-E\r\n", .array([.array([.bulk([0x78])]), .array([.error("E")])])),
  ]

  @Test func repliesAreReadHoweverTheyAreSplit() throws {
    let all = Self.replies.map(\.0).joined()
    let bytes = Array(all.utf8)
    for cut in 0...bytes.count {
      var reader = RESPReader()
      var read: [RESP] = []
      for piece in [bytes[..<cut], bytes[cut...]] {
        reader.add(ByteBuffer(bytes: piece))
        while let reply = try reader.next() { read.append(reply) }
      }
      #expect(read == Self.replies.map(\.1))
    }
    var reader = RESPReader()
    var read: [RESP] = []
    for byte in bytes {
      reader.add(ByteBuffer(bytes: [byte]))
      while let reply = try reader.next() { read.append(reply) }
    }
    #expect(read == Self.replies.map(\.1))
  }

  @Test(arguments: replies.map(\.0))
  func nothingIsReadBeforeItsLastByte(text: String) throws {
    for end in 0..<text.utf8.count {
      var reader = RESPReader()
      reader.add(ByteBuffer(bytes: Array(text.utf8)[..<end]))
      #expect(try reader.next() == nil)
    }
  }

  @Test(arguments: [
    "OK\r\n", "\r\n", "\0", "HTTP/1.1 400 Bad Request\r\n", "+O\nK\r\n", "+OK\n", "+OK\rX", ":\r\n", ":1.5\r\n",
    ":+1\r\n", ":01\r\n", ":-0\r\n", ": 1\r\n", ":1 \r\n", ":9223372036854775808\r\n", "$\r\n", "$-2\r\n", "$x\r\n",
    "$4097\r\n", "$99999999999999999999\r\n", "$1\r\nab", "$1\r\na\n", "$1\r\na\rb", "*-2\r\n", "*17\r\n",
    "*9223372036854775807\r\n", "*1\r\n*1\r\n*1\r\n", "*1\r\n?", "_\r\n", "#t\r\n", "%1\r\n+a\r\n+b\r\n",
  ])
  func whatIsNoReplyIsMalformed(text: String) {
    var reader = RESPReader()
    reader.add(ByteBuffer(string: text))
    #expect(throws: MalformedRESP.self) { try reader.next() }
  }

  @Test func endlessRepliesAreMalformed() {
    var line = RESPReader()
    line.add(ByteBuffer(string: "+" + String(repeating: "x", count: 5000)))
    #expect(throws: MalformedRESP.self) { try line.next() }
    var array = RESPReader()
    let bulk = "$4096\r\n" + String(repeating: "x", count: 4096) + "\r\n"
    array.add(ByteBuffer(string: "*16\r\n" + String(repeating: bulk, count: 10)))
    #expect(throws: MalformedRESP.self) { try array.next() }
  }

  @Test func noBytesAreTooOddToRead() {
    let pieces: [UInt8] = Array("+-:$*0123\r\n".utf8)
    for _ in 0..<50_000 {
      var reader = RESPReader()
      reader.add(ByteBuffer(bytes: (0..<Int.random(in: 0...30)).map { _ in pieces.randomElement() ?? 0 }))
      do { while try reader.next() != nil {} } catch { continue }
    }
  }
}
