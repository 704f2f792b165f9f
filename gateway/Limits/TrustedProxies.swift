import Web

/// The proxies whose `X-Forwarded-For` is used (`TRUSTED_PROXIES`). Any client can send that header, so it is read from
/// its end, and only as long as the proxy that added an entry is trusted.
package struct TrustedProxies: Sendable {
  private let blocks: [CIDR]

  /// - Throws: ``StartFailure`` that names the entry.
  package init(_ settings: Settings) throws {
    blocks = try settings.list("TRUSTED_PROXIES").map { text in
      guard let block = CIDR(text) else {
        throw StartFailure(
          "TRUSTED_PROXIES must be addresses and blocks like 10.0.0.0/8 or fd00::/8, separated by commas; "
            + "'\(text)' is none")
      }
      return block
    }
  }

  package func contains(_ address: IPAddress) -> Bool {
    for block in blocks where block.contains(address) { return true }
    return false
  }

  /// The address of the client of a request.
  ///
  /// - Parameter forwardedFor: the values of all `X-Forwarded-For` fields, in their order.
  package func client(peer: IPAddress, forwardedFor: [String]) -> IPAddress {
    var reader = ForwardedForReader(from: peer, trusting: self)
    for value in forwardedFor.reversed() where reader.isUnfinished {
      let bytes = Array(value.utf8)
      reader.read(bytes.span)
    }
    return reader.client
  }
}

/// Reads `X-Forwarded-For` from the peer back to the client, past the proxies that are trusted. Allocates nothing.
package struct ForwardedForReader {
  /// The last valid address: that of the client, once reading has finished.
  package private(set) var client: IPAddress
  package private(set) var isUnfinished: Bool
  private var entriesLeft = 32
  private let trusted: TrustedProxies

  package init(from peer: IPAddress, trusting trusted: TrustedProxies) {
    client = peer
    isUnfinished = trusted.contains(peer)
    self.trusted = trusted
  }

  /// Reads the value of a field from its end. The last field must be read first.
  package mutating func read(_ value: Span<UInt8>) {
    var end = value.count
    while isUnfinished, end >= 0 {
      var start = end
      while start > 0, value[start - 1] != UInt8(ascii: ",") { start -= 1 }
      readEntry(value, start, end)
      end = start - 1
    }
  }

  private mutating func readEntry(_ value: Span<UInt8>, _ start: Int, _ end: Int) {
    var start = start
    var end = end
    while start < end, value[start].isSpace { start += 1 }
    while end > start, value[end - 1].isSpace { end -= 1 }
    guard entriesLeft > 0 else { return isUnfinished = false }
    entriesLeft -= 1
    // Empty list elements are ignored (RFC 9110 §5.6.1).
    guard start < end else { return }
    guard let address = Self.address(value.extracting(start..<end)) else { return isUnfinished = false }
    client = address
    isUnfinished = trusted.contains(address)
  }

  /// `1.2.3.4`, `1.2.3.4:5678`, `::1`, `[::1]` or `[::1]:80`.
  private static func address(_ entry: Span<UInt8>) -> IPAddress? {
    var firstColon: Int?
    var lastColon: Int?
    var bracket: Int?
    for index in entry.indices {
      if entry[index] == UInt8(ascii: ":") {
        firstColon = firstColon ?? index
        lastColon = index
      } else if entry[index] == UInt8(ascii: "]") {
        bracket = bracket ?? index
      }
    }
    if entry[0] == UInt8(ascii: "[") {
      guard let bracket, let firstColon, firstColon < bracket else { return nil }
      guard bracket == entry.count - 1 || isPort(entry, from: bracket + 1) else { return nil }
      return IPAddress(entry.extracting(1..<bracket))
    }
    guard let firstColon, firstColon == lastColon else { return IPAddress(entry) }
    return isPort(entry, from: firstColon) ? IPAddress(entry.extracting(0..<firstColon)) : nil
  }

  /// Whether exactly a colon at `index` and a port follow.
  private static func isPort(_ entry: Span<UInt8>, from index: Int) -> Bool {
    guard (2...6).contains(entry.count - index), entry[index] == UInt8(ascii: ":") else { return false }
    var port = 0
    for digit in (index + 1)..<entry.count {
      guard entry[digit] &- 0x30 < 10 else { return false }
      port = port * 10 + Int(entry[digit] &- 0x30)
    }
    return port <= 65_535
  }
}

extension UInt8 {
  fileprivate var isSpace: Bool { self == 0x20 || self == 0x09 }
}
