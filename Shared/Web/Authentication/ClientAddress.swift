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
  /// The client's address for rate limits: what the gateway forwarded, else the connection's own; `direct` when there
  /// is neither. IPv6 addresses are cut to their /64, as one household has all addresses of that network.
  /// ``BoundaryMiddleware`` accepts `X-Forwarded-For` from the gateway only.
  package var clientAddress: String {
    let address = headers[values: .forwardedFor].last?.split(separator: ",").last?
      .trimmingCharacters(in: .whitespaces)
    guard let address else { return "direct" }
    return network(of: address) ?? address
  }
}

extension Request {
  private static let proxyHeaders: [HTTPField.Name] =
    ["forwarded", "x-forwarded-host", "x-forwarded-proto", "x-real-ip"]
    .compactMap { HTTPField.Name($0) } + [.forwardedFor]

  /// Whether it has a header that proxies add.
  var isForwarded: Bool { Self.proxyHeaders.contains { headers.contains($0) } }

  /// The request with the connection's address as its `X-Forwarded-For`. Unchanged for the gateway, and for a service
  /// that sends no such header.
  func replacingForwardedFor(_ context: Context, from service: CallingService?) -> Request {
    if let service, service.isGateway || !headers.contains(.forwardedFor) { return self }
    var head = head
    head.headerFields[.forwardedFor] = context.peerAddress
    return Request(head: head, body: body)
  }
}

/// The first 64 bits of an IPv6 address in any notation. nil for other text.
private func network(of address: String) -> String? {
  var v6 = in6_addr()
  guard inet_pton(AF_INET6, address, &v6) == 1 else { return nil }
  let groups = withUnsafeBytes(of: v6) { bytes in
    stride(from: 0, to: 16, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
  }
  // IPv4-mapped addresses (RFC 4291 §2.5.5.2) all have the same first 64 bits.
  if groups.prefix(5).allSatisfy({ $0 == 0 }), groups[5] == 0xFFFF {
    return [groups[6] >> 8, groups[6] & 0xFF, groups[7] >> 8, groups[7] & 0xFF].map(String.init).joined(separator: ".")
  }
  return groups.prefix(4).map { String($0, radix: 16) }.joined(separator: ":")
}
