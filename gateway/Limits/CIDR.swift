/// A block of addresses: `10.0.0.0/8`, `fd00::/8`, or a single address (RFC 4632).
package struct CIDR: Hashable, Sendable {
  private let network: IPAddress
  /// Of 128 bits.
  private let length: Int

  /// - Returns: nil for what is not written as everybody writes it: a length with a sign or leading zeros or beyond the
  ///   address, and an address with bits beyond the length, of which nobody knows what was meant.
  package init?(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = parts.first, let address = IPAddress(String(first)) else { return nil }
    // `::ffff:10.0.0.0/104` is an IPv6 block, as it is written.
    let bits = first.contains(":") ? 128 : 32
    var length = bits
    if parts.count == 2 {
      guard let said = Int(parts[1]), String(said) == parts[1], (0...bits).contains(said) else { return nil }
      length = said
    }
    self.network = address
    self.length = length + 128 - bits
    guard network.masked(to: self.length) == network else { return nil }
  }

  /// An IPv6 block has IPv4 addresses in it only when it says so: `::/0` is all of IPv6.
  package func contains(_ address: IPAddress) -> Bool {
    guard !address.isV4 || length >= 96 else { return false }
    return address.masked(to: length) == network
  }
}
