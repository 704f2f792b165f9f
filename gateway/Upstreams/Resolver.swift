import NIOCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension SocketAddress {
  /// Every address of a name, as the system's resolver knows them now. Blocks.
  static func all(of host: String, port: Int) throws -> [SocketAddress] {
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    #if canImport(Glibc)
      hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    #else
      hints.ai_socktype = SOCK_STREAM
    #endif
    var first: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, String(port), &hints, &first) == 0 else { throw Unresolved() }
    defer { freeaddrinfo(first) }
    var addresses: [SocketAddress] = []
    var next = first
    while let info = next?.pointee {
      next = info.ai_next
      switch info.ai_family {
      case AF_INET:
        info.ai_addr.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { addresses.append(.init($0.pointee)) }
      case AF_INET6:
        info.ai_addr.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { addresses.append(.init($0.pointee)) }
      default: break
      }
    }
    return addresses
  }
}

/// The resolver says nothing of a name.
struct Unresolved: Error {}
