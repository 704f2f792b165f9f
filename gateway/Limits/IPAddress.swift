import NIOCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// An IP address of either version. An IPv4 address is stored as the IPv6 address it is mapped to (RFC 4291 §2.5.5.2),
/// as in dual-stack sockets.
package struct IPAddress: Hashable, Sendable, CustomStringConvertible {
  let high: UInt64
  let low: UInt64

  static let unspecified = IPAddress(high: 0, low: 0)
  private static let mapped: UInt64 = 0xFFFF_0000_0000
  /// The length of the longest form (RFC 4291 §2.2), without a zone.
  private static let textBytesMax = 45

  init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// - Parameter v4: the four bytes as one number, the first byte most significant.
  init(v4: UInt32) { self.init(high: 0, low: Self.mapped | UInt64(v4)) }

  private init(_ v6: in6_addr) {
    (high, low) = withUnsafeBytes(of: v6) { bytes in
      (
        UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      )
    }
  }

  /// nil for a Unix domain socket.
  package init?(_ socket: SocketAddress?) {
    switch socket {
    case .v4(let v4): self.init(v4: UInt32(bigEndian: v4.address.sin_addr.s_addr))
    case .v6(let v6): self.init(v6.address.sin6_addr)
    case .unixDomainSocket, nil: return nil
    }
  }

  /// Parses an address without port, zone, whitespace, or leading zeros in IPv4.
  package init?(_ text: Span<UInt8>) {
    guard (2...Self.textBytesMax).contains(text.count) else { return nil }
    let parsed = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Self.textBytesMax + 1) { copy -> IPAddress? in
      for index in text.indices { copy[index] = CChar(bitPattern: text[index]) }
      copy[text.count] = 0
      // C would take a NUL for the end of the text.
      guard let start = copy.baseAddress, strlen(start) == text.count else { return nil }
      var v4 = in_addr()
      if inet_pton(AF_INET, start, &v4) == 1 { return IPAddress(v4: UInt32(bigEndian: v4.s_addr)) }
      var v6 = in6_addr()
      return inet_pton(AF_INET6, start, &v6) == 1 ? IPAddress(v6) : nil
    }
    guard let parsed else { return nil }
    self = parsed
  }

  package init?(_ text: String) {
    let bytes = Array(text.utf8)
    self.init(bytes.span)
  }

  package var isV4: Bool { high == 0 && low >> 32 == 0xFFFF }

  var isLoopback: Bool { isV4 ? UInt8(truncatingIfNeeded: low >> 24) == 127 : high == 0 && low == 1 }

  /// What one subscriber is usually assigned: an IPv4 address, or the /64 of an IPv6 address.
  package var network: IPAddress { isV4 ? self : IPAddress(high: high, low: 0) }

  /// The address with all but the first `length` of its 128 bits set to zero.
  func masked(to length: Int) -> IPAddress {
    // Shifting by the whole width gives zero.
    let highMask = UInt64.max << UInt64(clamping: 64 - min(length, 64))
    let lowMask = UInt64.max << UInt64(clamping: 128 - max(length, 64))
    return IPAddress(high: high & highMask, low: low & lowMask)
  }

  /// Dotted decimal for IPv4, RFC 5952 for IPv6.
  package var description: String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Self.textBytesMax + 1) { text in
      let capacity = socklen_t(text.count)
      if isV4 {
        var v4 = in_addr(s_addr: UInt32(truncatingIfNeeded: low).bigEndian)
        inet_ntop(AF_INET, &v4, text.baseAddress, capacity)
      } else {
        var v6 = (high.bigEndian, low.bigEndian)
        inet_ntop(AF_INET6, &v6, text.baseAddress, capacity)
      }
      return text.baseAddress.map { String(cString: $0) } ?? ""
    }
  }
}
