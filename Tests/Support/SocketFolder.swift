import Foundation
import NIOPosix

/// Runs `body` with the path of a folder for Unix sockets, which is short, as their paths have to be.
package func withSocketFolder<T>(_ body: (_ path: String) async throws -> T) async throws -> T {
  var template = Array("/tmp/kith-XXXXXX".utf8CString)
  guard mkdtemp(&template) != nil else { throw Unexpected(reply: "no folder for sockets") }
  let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  // `try?`: a leftover folder does no harm.
  defer { try? FileManager.default.removeItem(atPath: path) }
  return try await body(path)
}

/// Leaves the file of a socket on which nobody listens, as a process does that is killed.
package func leaveSocket(at path: String) async throws {
  let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
    .bind(unixDomainSocketPath: path + "-").get()
  // A file of the first name would be removed.
  try FileManager.default.moveItem(atPath: path + "-", toPath: path)
  try await channel.close()
}
