import NIOCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The response headers of a verdict: `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers), and
/// the older `X-RateLimit-…`.
extension LimitVerdict {
  private static let windowSeconds = 60

  /// Appends the header lines. Allocates nothing unless the buffer is full.
  ///
  /// - Parameters:
  ///   - limit: the class of the route; nil: ``LimitClass/standard(isUser:)``.
  ///   - epoch: the time since 1970.
  package func writeHeaders(
    to out: inout ByteBuffer, class limit: LimitClass?, isUser: Bool, epoch: Nanoseconds = LimitVerdict.epoch()
  ) {
    let limit = limit ?? .standard(isUser: isUser)
    out.writeWithUnsafeMutableBytes(minimumWritableBytes: HeaderLineWriter.bytesMax) { bytes in
      var lines = HeaderLineWriter(to: bytes)
      lines.add("ratelimit-policy: \"", limit.name)
      lines.add("\";q=", self.limit)
      lines.add(";w=", Self.windowSeconds)
      lines.add("\r\nratelimit: \"", limit.name)
      lines.add("\";r=", remaining)
      lines.add(";t=", Int(resetAfter.secondsRoundedUp))
      lines.add("\r\nx-ratelimit-limit: ", self.limit)
      lines.add("\r\nx-ratelimit-remaining: ", remaining)
      lines.add("\r\nx-ratelimit-reset: ", resetSecond(epoch))
      lines.add("\r\n")
      return lines.count
    }
  }

  /// The same headers for a ``LocalResponse``; a refusal has `Retry-After` too.
  package func headers(
    class limit: LimitClass?, isUser: Bool, epoch: Nanoseconds = LimitVerdict.epoch()
  ) -> [(name: String, value: String)] {
    let name = (limit ?? .standard(isUser: isUser)).name
    let headers = [
      (name: "ratelimit-policy", value: "\"\(name)\";q=\(self.limit);w=\(Self.windowSeconds)"),
      (name: "ratelimit", value: "\"\(name)\";r=\(remaining);t=\(resetAfter.secondsRoundedUp)"),
      (name: "x-ratelimit-limit", value: String(self.limit)),
      (name: "x-ratelimit-remaining", value: String(remaining)),
      (name: "x-ratelimit-reset", value: String(resetSecond(epoch))),
    ]
    return isAllowed ? headers : headers + [(name: "retry-after", value: String(retryAfterSeconds))]
  }

  private func resetSecond(_ epoch: Nanoseconds) -> Int { Int(epoch.adding(resetAfter).secondsRoundedUp) }

  /// The time since 1970.
  package static func epoch() -> Nanoseconds {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Nanoseconds(time.tv_sec) &* 1_000_000_000 &+ Nanoseconds(time.tv_nsec)
  }
}

/// Writes text to memory that is already allocated, because every response has these lines. Text that does not fit is
/// left out.
private struct HeaderLineWriter {
  /// More than the longest lines need.
  static let bytesMax = 320
  private(set) var count = 0
  private let bytes: UnsafeMutableRawBufferPointer

  init(to bytes: UnsafeMutableRawBufferPointer) { self.bytes = bytes }

  mutating func add(_ text: StaticString) {
    guard let start = bytes.baseAddress, bytes.count - count >= text.utf8CodeUnitCount else { return }
    (start + count).copyMemory(from: text.utf8Start, byteCount: text.utf8CodeUnitCount)
    count += text.utf8CodeUnitCount
  }

  mutating func add(_ text: StaticString, _ name: String) {
    add(text)
    guard bytes.count - count >= name.utf8.count else { return }
    for byte in name.utf8 {
      bytes[count] = byte
      count += 1
    }
  }

  mutating func add(_ text: StaticString, _ number: Int) {
    add(text)
    var rest = UInt(clamping: number)
    var digits = 1
    while rest > 9 {
      rest /= 10
      digits += 1
    }
    guard bytes.count - count >= digits else { return }
    rest = UInt(clamping: number)
    for index in stride(from: count + digits - 1, through: count, by: -1) {
      bytes[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    }
    count += digits
  }
}
