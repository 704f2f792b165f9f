import Foundation
import Synchronization

/// A free port on loopback that the system assigns to no other socket for a while. Servers can bind it by its number,
/// as they set `SO_REUSEADDR` (socket(7)).
package func freePort() throws -> Int {
  let (descriptor, port) = try boundToLoopback()
  reserved.withLock { reserved in
    reserved.append(descriptor)
    if reserved.count > reservedMax { close(reserved.removeFirst()) }
  }
  return port
}

/// Sockets that are bound and do not listen. The oldest are closed when there are more than any test may still use.
private let reserved = Mutex<[Int32]>([])
private let reservedMax = 2048

private func boundToLoopback() throws -> (descriptor: Int32, port: Int) {
  // Close-on-exec: a child process that inherited it could not listen on its port.
  let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
  var isReusable: Int32 = 1
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isReusable, socklen_t(MemoryLayout<Int32>.size))
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  var length = socklen_t(MemoryLayout<sockaddr_in>.size)
  let bound = withUnsafeMutablePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
      bind(descriptor, pointer, length) == 0 && getsockname(descriptor, pointer, &length) == 0
    }
  }
  guard bound else {
    close(descriptor)
    throw Unexpected(reply: "no free port")
  }
  return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
}

/// Runs `body` with a port that accepts connections and never responds.
package func withUnresponsivePort(_ body: (Int) async throws -> Void) async throws {
  let (descriptor, port) = try boundToLoopback()
  defer { close(descriptor) }
  guard listen(descriptor, 16) == 0 else { throw Unexpected(reply: "cannot listen") }
  try await body(port)
}
