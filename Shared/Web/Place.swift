import HTTPTypes
import Hummingbird

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension Request {
  /// The address that the gateway saw, else the connection's own, as far as it matters for counting: of IPv6 only the
  /// network, as one household has all the addresses in it. ``Edge`` lets nobody but the gateway say it.
  package var place: String {
    let address = headers[values: .forwardedFor].last?.split(separator: ",").last?
      .trimmingCharacters(in: .whitespaces)
    guard let address else { return "direct" }
    return network(of: address) ?? address
  }
}

extension Request {
  private static let forwarding: [HTTPField.Name] =
    ["forwarded", "x-forwarded-host", "x-forwarded-proto", "x-real-ip"]
    .compactMap { HTTPField.Name($0) } + [.forwardedFor]

  /// Whether whoever sent it says that it speaks for somebody else.
  var isForwarded: Bool { Self.forwarding.contains { headers.contains($0) } }

  /// The same with the connection's own address in place of what its sender says; of the gateway nothing is changed.
  func located(at address: String?, by service: CallingService?) -> Request {
    if let service, service.isGateway || !headers.contains(.forwardedFor) { return self }
    var head = head
    head.headerFields[.forwardedFor] = address
    return Request(head: head, body: body)
  }
}

/// The first 64 bits of an IPv6 address, however it is written. nil for what is none.
private func network(of address: String) -> String? {
  var v6 = in6_addr()
  guard inet_pton(AF_INET6, address, &v6) == 1 else { return nil }
  let groups = withUnsafeBytes(of: v6) { bytes in
    stride(from: 0, to: 16, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
  }
  // IPv4 in IPv6 (RFC 4291 §2.5.5.2), where the network is the same for all.
  if groups.prefix(5).allSatisfy({ $0 == 0 }), groups[5] == 0xFFFF {
    return [groups[6] >> 8, groups[6] & 0xFF, groups[7] >> 8, groups[7] & 0xFF].map(String.init).joined(separator: ".")
  }
  return groups.prefix(4).map { String($0, radix: 16) }.joined(separator: ":")
}
