import NIOCore

/// GCRA inside Redis, where a script runs alone: nobody can come between reading a time and writing it.
///
/// Redis's own clock counts, so gateways need not agree on the time. Lua's numbers are exact up to 2^53: enough for
/// microseconds since 1970 but not for nanoseconds, which are therefore kept apart. The kept value is nanoseconds since
/// 1970 in decimal digits; its key goes when the quota is whole again.
package struct RedisScript: Sendable {
  /// `EVALSHA …` up to the arguments.
  private let start: ByteBuffer

  /// - Parameter sha1: what `SCRIPT LOAD` answered.
  init?(sha1: [UInt8]) {
    guard sha1.count == 40, sha1.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else { return nil }
    start = Self.command("EVALSHA", String(decoding: sha1, as: UTF8.self))
  }

  /// - Parameter byName: false sends the whole script, for a Redis that has forgotten it.
  func write(_ key: LimitKey, _ quota: Quota, byName: Bool = true, to out: inout ByteBuffer) {
    out.writeImmutableBuffer(byName ? start : Self.wholeStart)
    let name = key.limit.name
    out.writeStaticString("$")
    out.writeDecimal(11 + name.utf8.count + 3 + 32)
    out.writeStaticString("\r\nkith:limit:")
    out.writeString(name)
    out.writeStaticString(key.isUser ? ":u:" : ":i:")
    out.writeHex(key.high)
    out.writeHex(key.low)
    out.writeStaticString("\r\n")
    out.writeBulk(String(quota.interval))
    out.writeBulk(String(quota.whole))
  }

  /// A take that is nobody's: whether the script runs, with all the rights it needs.
  func writeProbe(to out: inout ByteBuffer) {
    out.writeImmutableBuffer(start)
    for text in ["kith:limit:probe", "1", "1"] { out.writeBulk(text) }
  }

  private static let wholeStart = command("EVAL", text)

  private static func command(_ name: String, _ script: String) -> ByteBuffer {
    var buffer = ByteBuffer(staticString: "*6\r\n")
    for part in [name, script, "1"] { buffer.writeBulk(part) }
    return buffer
  }

  /// The answer: whether it passes, and how many nanoseconds the arrival time is ahead of now.
  package static let text = """
    local time = redis.call('TIME')
    local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
    local interval, whole = tonumber(ARGV[1]), tonumber(ARGV[2])
    local ahead = 0
    local kept = redis.pcall('GET', KEYS[1])
    if type(kept) == 'string' then
      local micro, nano = string.match(kept, '^(%d+)(%d%d%d)$')
      if micro then
        ahead = (tonumber(micro) - now) * 1000 + tonumber(nano)
        ahead = math.max(0, math.min(ahead, whole))
      end
    end
    if ahead + interval > whole then
      return {0, ahead}
    end
    ahead = ahead + interval
    local tat = string.format('%d%03d', now + math.floor(ahead / 1000), ahead % 1000)
    redis.call('SET', KEYS[1], tat, 'PX', string.format('%d', math.ceil(ahead / 1000000)))
    return {1, ahead}
    """
}

extension ByteBuffer {
  /// A command of any words.
  mutating func writeCommand(_ words: String...) {
    writeStaticString("*")
    writeDecimal(words.count)
    writeStaticString("\r\n")
    for word in words { writeBulk(word) }
  }

  mutating func writeBulk(_ text: String) {
    writeStaticString("$")
    writeDecimal(text.utf8.count)
    writeStaticString("\r\n")
    writeString(text)
    writeStaticString("\r\n")
  }

  /// 16 digits.
  fileprivate mutating func writeHex(_ number: UInt64) {
    writeWithUnsafeMutableBytes(minimumWritableBytes: 16) { digits in
      for index in 0..<16 {
        let digit = UInt8(truncatingIfNeeded: number >> (60 - 4 * UInt64(index))) & 0xF
        digits[index] = digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
      }
      return 16
    }
  }
}
