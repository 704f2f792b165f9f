import Foundation

/// A port of loopback that was free a moment ago.
package func freePort() throws -> Int {
  let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  defer { close(descriptor) }
  return try bindToLoopback(descriptor)
}

private func bindToLoopback(_ descriptor: Int32) throws -> Int {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  var length = socklen_t(MemoryLayout<sockaddr_in>.size)
  let bound = withUnsafeMutablePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
      bind(descriptor, pointer, length) == 0 && getsockname(descriptor, pointer, &length) == 0
    }
  }
  guard bound else { throw Unexpected(reply: "no free port") }
  return Int(UInt16(bigEndian: address.sin_port))
}

/// A port that accepts connections and never says a word.
package func withSilence(_ body: (Int) async throws -> Void) async throws {
  let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  defer { close(descriptor) }
  let port = try bindToLoopback(descriptor)
  guard listen(descriptor, 16) == 0 else { throw Unexpected(reply: "cannot listen") }
  try await body(port)
}
