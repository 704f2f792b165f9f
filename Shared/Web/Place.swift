import Hummingbird

extension Request {
  /// The address that the gateway saw, as far as it matters for counting: of IPv6 only the network, as one household has
  /// all the addresses in it.
  package var place: String {
    let address = headers[values: .forwardedFor].last?.split(separator: ",").last?
      .trimmingCharacters(in: .whitespaces)
    guard let address, address.contains(":") else { return address ?? "direct" }
    return address.split(separator: ":", omittingEmptySubsequences: false).prefix(4).joined(separator: ":")
  }
}
