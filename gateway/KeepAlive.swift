import NIOCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Has the kernel ask peers that say nothing whether they are still there. One that has vanished without a word, as
/// machines and phones do, is noticed within a minute.
enum KeepAlive {
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
