import NIOCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension SocketAddress {
  /// All addresses of a name, from the system's resolver. Blocks.
  ///
  /// - Throws: ``ResolutionFailed``.
  static func resolve(_ host: String, port: Int) throws -> [SocketAddress] {
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    #if canImport(Glibc)
      hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    #else
      hints.ai_socktype = SOCK_STREAM
    #endif
    var first: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, String(port), &hints, &first) == 0 else { throw ResolutionFailed() }
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

/// Thrown when the resolver fails for a name.
struct ResolutionFailed: Error {}
