import NIOCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// TCP keep-alive options: the kernel probes idle peers, so a peer that has vanished without closing its connection is
/// noticed within a minute.
enum TCPKeepAlive {
  static let options: [(option: ChannelOptions.Types.SocketOption, value: SocketOptionValue)] = [
    (.init(level: .socket, name: .so_keepalive), 1), (tcp(idleSeconds), 30), (tcp(TCP_KEEPINTVL), 10),
    (tcp(TCP_KEEPCNT), 3),
  ]

  #if canImport(Darwin)
    private static let idleSeconds = TCP_KEEPALIVE
  #else
    private static let idleSeconds = TCP_KEEPIDLE
  #endif

  private static func tcp(_ name: CInt) -> ChannelOptions.Types.SocketOption {
    .init(level: .tcp, name: .init(rawValue: name))
  }
}
