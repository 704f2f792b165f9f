import AsyncHTTPClient
import Foundation
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization

/// Listens on a Unix socket beside the port of a server (`SOCKET_DIR`), for callers on the same machine. Who may
/// connect is a matter of the permissions of the file and of its folder.
final class UnixSocketListener: Sendable {
  private let path: String
  /// The name with which it is made, and closed: NIO removes the file of this name then. Under the other one another
  /// process may listen by that time.
  private let firstPath: String
  private let server: EventLoopServer
  /// The port, which is opened first: where it cannot be, nothing else has to be stopped.
  private let port: ListeningPort
  private let start = ListeningPort()
  private let logger: Logger
  /// The file while this process listens: another process may have replaced it since.
  private let file = Mutex<FileIdentity?>(nil)
  private let failure = Mutex<StartFailure?>(nil)

  /// - Throws: ``StartFailure`` for a path that depends on the working directory, or is too long for a socket.
  init(_ path: String, _ server: EventLoopServer, after port: ListeningPort, logger: Logger) throws {
    guard path.hasPrefix("/") else { throw StartFailure("SOCKET_DIR is not an absolute path") }
    self.path = path
    firstPath = "\(path).\(UInt32.random(in: 1 << 31...UInt32.max))"
    // `try?`: it fails for no other reason.
    guard (try? SocketAddress(unixDomainSocketPath: firstPath)) != nil else {
      throw StartFailure("SOCKET_DIR is longer than the path of a socket can be: \(path)")
    }
    self.server = server
    self.port = port
    self.logger = logger
  }

  /// Serves until graceful shutdown, or not at all: ``startFailure``.
  func run() async {
    defer {
      removeFile()
      start.ended()
    }
    // `try?`: where the port cannot be opened, its own error says why.
    guard (try? await port.number) != nil else { return }
    do {
      try await requireFreePath()
      try await server.service(.unixDomainSocket(path: firstPath)) { [self] in await opened($0) }.run()
    } catch { fail(error) }
  }

  private func fail(_ error: any Error) {
    let reason = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
    failure.withLock { $0 = error as? StartFailure ?? StartFailure("cannot listen on \(path): \(reason)") }
  }

  /// Gives the socket its name, in place of the file of a process that has not ended in order.
  private func opened(_ channel: any Channel) async {
    guard rename(firstPath, path) == 0 else {
      fail(IOError(errnoCode: errno, reason: "rename"))
      // `try?`: a channel that is closed is closed.
      try? await channel.close()
      return
    }
    file.withLock { $0 = FileIdentity(path) }
    start.opened(on: 0, channel)
    logger.info("listening", metadata: ["socket": "\(path)"])
  }

  /// Why it does not listen; nil once it does, and where the port could not be opened.
  var startFailure: StartFailure? {
    get async {
      // `try?`: it has ended.
      _ = try? await start.number
      return failure.withLock(\.self)
    }
  }

  /// Lets no connection begin, and returns once those have been accepted that had begun; after a second at the latest.
  ///
  /// The system does not tell how many wait to be accepted. But they are accepted in their order, and the last is a
  /// connection of this process: its request is responded to after the others have been accepted.
  func emptyAcceptQueue() async {
    removeFile(keepingAs: firstPath)
    guard let url = SocketURL.base(ofSocketAt: firstPath) else { return }
    var request = HTTPClientRequest(toProcessAt: url + "/health/live")
    request.headers.add(name: "connection", value: "close")
    // `try?`: then connections may be reset that wait.
    _ = try? await HTTPClient.shared.execute(request, timeout: .seconds(1))
    await MultiThreadedEventLoopGroup.singleton.waitForAcceptedConnections()
  }

  /// - Parameter name: the path by which the socket can still be reached.
  private func removeFile(keepingAs name: String? = nil) {
    file.withLock { file in
      if let file, file == FileIdentity(path) {
        if let name { rename(path, name) } else { unlink(path) }
      }
      file = nil
    }
  }

  /// Requires that there is no file, or the socket of a process that has ended.
  private func requireFreePath() async throws {
    guard let existing = FileIdentity(path) else { return }
    guard existing.isSocket else { throw StartFailure("\(path) is not a socket") }
    do {
      try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .connect(unixDomainSocketPath: path).get().close()
    } catch let error as IOError where [ECONNREFUSED, ENOENT].contains(error.errnoCode) {
      return
    }
    throw StartFailure("\(path) is in use by another program")
  }
}

/// A file, whatever has its path now.
private struct FileIdentity: Equatable {
  private let device: UInt64
  private let inode: UInt64
  let isSocket: Bool

  static func == (a: Self, b: Self) -> Bool { a.device == b.device && a.inode == b.inode }

  /// nil when there is no file.
  init?(_ path: String) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(truncatingIfNeeded: status.st_ino)
    isSocket = status.st_mode & S_IFMT == S_IFSOCK
  }
}
