import Foundation
import NIOCore
import NIOPosix

/// Checks that the configured address is free, by binding it once.
///
/// - Throws: ``StartFailure`` when another program listens there.
package func requireFreePort(of settings: Settings, _ defaultPort: Int) async throws {
  let host = settings.string("HOST", default: "127.0.0.1")
  let port = try settings.int("PORT", default: defaultPort, in: 0...65535)
  do {
    try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .bind(host: host, port: port).get().close()
  } catch {
    throw StartFailure.listening(error, host: host, port: port)
  }
}

extension StartFailure {
  /// A one-line error for the two ways in which listening usually fails; any other error as it is.
  package static func listening(_ error: any Error, host: String, port: Int) -> any Error {
    guard let error = error as? IOError else { return error }
    switch error.errnoCode {
    case EADDRINUSE: return StartFailure("port \(port) is in use by another program")
    case EACCES, EADDRNOTAVAIL: return StartFailure("cannot listen on \(host):\(port)")
    default: return error
    }
  }
}
