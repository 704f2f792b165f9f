import Foundation

/// PgBouncer in transaction mode on loopback, with fewer connections to the server than it has clients.
package struct PgBouncer: Sendable {
  /// The URL of a database through it.
  package let url: String
  private let process: ChildProcess
  private let configuration: String

  package static var isInstalled: Bool { path != nil }

  private static let path = ["/usr/sbin/pgbouncer", "/usr/local/bin/pgbouncer", "/opt/homebrew/bin/pgbouncer"]
    .first(where: FileManager.default.isExecutableFile)

  /// - Parameter databaseURL: a database of a server on loopback, without a password.
  fileprivate init(before databaseURL: String) async throws {
    guard let program = Self.path, let server = URLComponents(string: databaseURL), let port = server.port else {
      throw Unexpected(reply: "pgbouncer is not installed")
    }
    let (own, name) = (try freePort(), server.path.dropFirst())
    configuration = "/tmp/kith-pgbouncer-\(UUID().uuidString.prefix(8)).ini"
    try """
    [databases]
    \(name) = host=127.0.0.1 port=\(port) user=kith
    [pgbouncer]
    listen_addr = 127.0.0.1
    listen_port = \(own)
    unix_socket_dir =
    auth_type = any
    pool_mode = transaction
    default_pool_size = 2
    server_login_retry = 1
    """.write(toFile: configuration, atomically: true, encoding: .utf8)
    // It refuses to run as root.
    let user = geteuid() == 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] : []
    process = try ChildProcess(user + [program, configuration], output: configuration + ".log")
    url = "postgresql://kith@127.0.0.1:\(own)/\(name)?pgbouncer=true"
    let printed = process
    try await eventually("PgBouncer; it printed: \(printed.printed())") { printed.printed().contains("process up") }
  }

  fileprivate func remove() async {
    process.signal(SIGKILL)
    _ = await process.end()
    for path in [configuration, configuration + ".log"] {
      // `try?`: a leftover file does no harm.
      try? FileManager.default.removeItem(atPath: path)
    }
  }
}

package func withPgBouncer(before databaseURL: String, _ body: (PgBouncer) async throws -> Void) async throws {
  let pooler = try await PgBouncer(before: databaseURL)
  do { try await body(pooler) } catch {
    await pooler.remove()
    throw error
  }
  await pooler.remove()
}
