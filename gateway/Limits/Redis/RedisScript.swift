import NIOCore
import Web

/// GCRA as a Lua script in Redis, where scripts run atomically, so that reading and writing a time cannot race.
///
/// It uses the clock of Redis, so the clocks of gateways need not agree. Lua numbers are exact up to 2^53, which
/// suffices for microseconds since 1970 but not for nanoseconds, so the last three digits are handled separately. The
/// stored value is nanoseconds since 1970 in decimal digits; its key expires when the quota is full again.
package struct RedisScript: Sendable {
  /// `EVALSHA …` up to the key.
  private let evalsha: ByteBuffer
  fileprivate static let hexDigitsOfWord = UInt64.bitWidth / 4

  /// - Parameter sha1: the reply to `SCRIPT LOAD`.
  init?(sha1: [UInt8]) {
    guard sha1.count == 40, sha1.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else { return nil }
    evalsha = Self.command("EVALSHA", String(decoding: sha1, as: UTF8.self))
  }

  /// - Parameter bySHA: false sends the whole script, for a Redis that no longer has it in its script cache.
  func write(_ key: LimitKey, _ quota: Quota, bySHA: Bool = true, to out: inout ByteBuffer) {
    out.writeImmutableBuffer(bySHA ? evalsha : Self.eval)
    // The key as a bulk string, written in parts because every request has one.
    let prefix: StaticString = "kith:limit:"
    let name = key.limit.name
    let kind: StaticString = key.isUser ? ":u:" : ":i:"
    out.writeStaticString("$")
    out.writeDecimal(prefix.utf8CodeUnitCount + name.utf8.count + kind.utf8CodeUnitCount + 2 * Self.hexDigitsOfWord)
    out.writeStaticString("\r\n")
    out.writeStaticString(prefix)
    out.writeString(name)
    out.writeStaticString(kind)
    out.writeHex(key.high)
    out.writeHex(key.low)
    out.writeStaticString("\r\n")
    out.writeBulk(String(quota.interval))
    out.writeBulk(String(quota.refillTime))
  }

  /// A call with a key that is used for nothing else, to check that the script runs and has all permissions it needs.
  func writeProbe(to out: inout ByteBuffer) {
    out.writeImmutableBuffer(evalsha)
    for text in ["kith:limit:probe", "1", "1"] { out.writeBulk(text) }
  }

  /// `EVAL …` up to the key.
  private static let eval = command("EVAL", text)

  private static func command(_ name: String, _ script: String) -> ByteBuffer {
    var buffer = ByteBuffer(staticString: "*6\r\n")
    for part in [name, script, "1"] { buffer.writeBulk(part) }
    return buffer
  }

  /// Returns whether the request is allowed, and how many nanoseconds the theoretical arrival time is ahead of now.
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
  /// All digits, with leading zeros.
  fileprivate mutating func writeHex(_ number: UInt64) {
    writeWithUnsafeMutableBytes(minimumWritableBytes: RedisScript.hexDigitsOfWord) { digits in
      for index in 0..<RedisScript.hexDigitsOfWord {
        let digit = UInt8(truncatingIfNeeded: number >> (60 - 4 * UInt64(index))) & 0xF
        digits[index] = digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
      }
      return RedisScript.hexDigitsOfWord
    }
  }
}
