/// A block of addresses: `10.0.0.0/8`, `fd00::/8`, or a single address (RFC 4632).
package struct CIDR: Hashable, Sendable {
  private let network: IPAddress
  /// Prefix length, of 128 bits.
  private let length: Int

  /// - Returns: nil for text that is not in canonical form: a length with a sign or leading zeros or longer than the
  ///   address, or an address with bits set beyond the length, which would be ambiguous.
  package init?(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = parts.first, let address = IPAddress(String(first)) else { return nil }
    // `::ffff:10.0.0.0/104` is written as an IPv6 block, so its length is of 128 bits.
    let bits = first.contains(":") ? 128 : 32
    var length = bits
    if parts.count == 2 {
      guard let number = Int(parts[1]), String(number) == parts[1], (0...bits).contains(number) else { return nil }
      length = number
    }
    self.network = address
    self.length = length + 128 - bits
    guard network.masked(to: self.length) == network else { return nil }
  }

  /// An IPv6 block contains IPv4 addresses only when it lies within `::ffff:0:0/96`: `::/0` is all of IPv6 and no IPv4.
  package func contains(_ address: IPAddress) -> Bool {
    guard !address.isV4 || length >= 96 else { return false }
    return address.masked(to: length) == network
  }
}
