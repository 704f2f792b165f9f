import Foundation

/// An IP address, to decide whether this server may be made to connect to it.
struct IPAddress: Sendable, Hashable, CustomStringConvertible {
  /// 4 or 16.
  let bytes: [UInt8]
  let description: String

  /// nil for anything but a literal address; one of IPv6 may be in brackets.
  init?(_ text: String) {
    let plain = text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : text
    var (four, six) = (in_addr(), in6_addr())
    if inet_pton(AF_INET, plain, &four) == 1 {
      bytes = withUnsafeBytes(of: &four) { Array($0) }
    } else if inet_pton(AF_INET6, plain, &six) == 1 {
      bytes = withUnsafeBytes(of: &six) { Array($0) }
    } else {
      return nil
    }
    description = plain
  }

  /// Whether it is a unicast address that is routed on the Internet (the registries of RFC 6890).
  var isPublic: Bool { bytes.count == 4 ? isPublicIPv4 : isPublicIPv6 }

  private var isPublicIPv4: Bool {
    switch (bytes[0], bytes[1], bytes[2]) {
    case (0, _, _), (10, _, _), (127, _, _), (224..., _, _): false
    case (100, 64...127, _), (169, 254, _), (172, 16...31, _), (192, 168, _), (198, 18...19, _): false
    case (192, 0, 0), (192, 0, 2), (192, 88, 99), (198, 51, 100), (203, 0, 113): false
    default: true
    }
  }

  /// Within 2000::/3, without the ranges that stand for IPv4 addresses, for tunnels and for documentation.
  private var isPublicIPv6: Bool {
    guard bytes[0] & 0xE0 == 0x20 else { return false }
    switch (bytes[0], bytes[1], bytes[2], bytes[3]) {
    case (0x20, 0x02, _, _): return false
    case (0x20, 0x01, 0...1, _): return false
    case (0x20, 0x01, 0x0D, 0xB8): return false
    case (0x3F, 0xFF, 0...0x0F, _): return false
    default: return true
    }
  }

  /// The addresses of a host name. Blocks while the resolver works.
  ///
  /// - Returns: none when the name is unknown.
  static func resolve(_ host: String) -> [IPAddress] {
    if let address = IPAddress(host) { return [address] }
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
    defer { freeaddrinfo(list) }
    var (found, next): ([IPAddress], UnsafeMutablePointer<addrinfo>?) = ([], list)
    while let info = next?.pointee {
      var name = [CChar](repeating: 0, count: 1025)
      if getnameinfo(info.ai_addr, info.ai_addrlen, &name, socklen_t(name.count), nil, 0, NI_NUMERICHOST) == 0 {
        let text = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if let address = IPAddress(text), !found.contains(address) { found.append(address) }
      }
      next = info.ai_next
    }
    return found
  }
}
