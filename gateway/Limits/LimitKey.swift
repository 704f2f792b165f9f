import Wire

/// The key under which requests are counted: a class, and a user or an IP address (an IPv6 address by its /64, because
/// one subscriber has 2^64 addresses).
package struct LimitKey: Hashable, Sendable {
  package let limit: LimitClass
  package let isUser: Bool
  package let high: UInt64
  package let low: UInt64

  private init(_ limit: LimitClass, isUser: Bool, high: UInt64, low: UInt64) {
    self.limit = limit
    self.isUser = isUser
    self.high = high
    self.low = low
  }

  /// The key of a request.
  ///
  /// - Parameter limit: the class of the route; nil: ``LimitClass/standard(isUser:)``.
  package init(_ limit: LimitClass?, user: UserID?, address: IPAddress) {
    let limit = limit ?? .standard(isUser: user != nil)
    if let user, limit.isPerUser { self = .user(user, limit) } else { self = .address(address, limit) }
  }

  package static func user(_ uuid: UInt128, _ limit: LimitClass) -> LimitKey {
    LimitKey(limit, isUser: true, high: UInt64(truncatingIfNeeded: uuid >> 64), low: UInt64(truncatingIfNeeded: uuid))
  }

  package static func user(_ user: UserID, _ limit: LimitClass) -> LimitKey {
    var bytes = user.uuid.uuid
    return withUnsafeBytes(of: &bytes) { bytes in
      LimitKey(
        limit, isUser: true, high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
        low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }
  }

  package static func address(_ address: IPAddress, _ limit: LimitClass) -> LimitKey {
    let network = address.network
    return LimitKey(limit, isUser: false, high: network.high, low: network.low)
  }

  /// Hashes two words instead of four values, because every request hashes its key.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(high ^ UInt64(limit.rawValue) << 1 ^ (isUser ? 1 : 0))
    hasher.combine(low)
  }
}
