import Foundation

/// A blocking TCP connection to a program on this machine.
struct LoopbackConnection: ~Copyable {
  private let descriptor: Int32

  /// - Throws: ``StartFailure`` when nothing accepts the connection within a second.
  init(host: String, port: Int) throws {
    var hints = addrinfo()
    #if canImport(Glibc)
      hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    #else
      hints.ai_socktype = SOCK_STREAM
    #endif
    var addresses: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, String(port), &hints, &addresses) == 0 else { throw StartFailure("\(host) is not known") }
    defer { freeaddrinfo(addresses) }
    var next = addresses
    while let address = next?.pointee {
      if let descriptor = Self.connected(to: address) {
        self.descriptor = descriptor
        return
      }
      next = address.ai_next
    }
    throw StartFailure("nothing accepts connections")
  }

  deinit { close(descriptor) }

  private static func connected(to address: addrinfo) -> Int32? {
    let descriptor = socket(address.ai_family, address.ai_socktype, address.ai_protocol)
    guard descriptor >= 0 else { return nil }
    // The time for sending is also the time for connecting.
    for (option, seconds) in [(SO_SNDTIMEO, 1), (SO_RCVTIMEO, 2)] {
      var limit = timeval(tv_sec: seconds, tv_usec: 0)
      setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
    }
    guard connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 else {
      close(descriptor)
      return nil
    }
    return descriptor
  }

  /// - Parameter text: short enough for the buffer of the socket.
  func send(_ text: String) throws {
    let bytes = Array(text.utf8)
    guard write(descriptor, bytes, bytes.count) == bytes.count else { throw StartFailure("it closes the connection") }
  }

  /// The first bytes that arrive, all at once or in parts.
  ///
  /// - Throws: ``StartFailure`` when none come for two seconds.
  func received(upTo count: Int) throws -> String {
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: count)
    while bytes.count < count {
      let length = read(descriptor, &part, count - bytes.count)
      guard length >= 0 else { throw StartFailure("it says nothing") }
      if length == 0 { break }
      bytes += part.prefix(length)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
