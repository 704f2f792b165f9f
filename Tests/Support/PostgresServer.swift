import Foundation

/// A PostgreSQL server for one test, which can stop and start it and use TLS.
package struct PostgresServer: Sendable {
  package let url: String
  package let certificate: String
  private let folder: String
  private let control: [String]
  private let port: Int

  fileprivate init(tls: Bool) async throws {
    guard let command = ProcessInfo.processInfo.environment["KITH_TEST_PG_CTL"] else {
      throw Unexpected(reply: "KITH_TEST_PG_CTL is not set: `make test` sets it")
    }
    control = command.split(separator: " ").map(String.init)
    folder = "/tmp/kith-cluster-\(UUID().uuidString.prefix(8))"
    port = try freePort()
    url = "postgresql://kith@localhost:\(port)/postgres"
    certificate = "\(folder).crt"
    try await control("initdb", "-D", folder, "-o", "-A trust -U kith")
    if tls { try await useCertificate() }
    try await start()
  }

  package func start() async throws {
    try await control(
      "start", "-w", "-D", folder, "-l", "\(folder)/log", "-o",
      "-p \(port) -c listen_addresses=localhost -c unix_socket_directories=\(folder)")
  }

  package func stop() async throws { try await control("stop", "-w", "-m", "immediate", "-D", folder) }

  /// A certificate that did not sign this server's.
  package func unrelatedCertificate() async throws -> String {
    try await createCertificate("\(folder).other.crt", key: "\(folder).other.key")
    return "\(folder).other.crt"
  }

  private func useCertificate() async throws {
    try await createCertificate(certificate, key: "\(folder).key")
    // When the tests run as root, the server runs as another user, which must own the key.
    let asServer = control.dropLast()
    for name in ["key", "crt"] {
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: "\(folder).\(name)")
      try await run(Array(asServer) + ["cp", "\(folder).\(name)", "\(folder)/server.\(name)"])
    }
    try await run(Array(asServer) + ["chmod", "600", "\(folder)/server.key"])
    try await run(Array(asServer) + ["sh", "-c", "echo 'ssl = on' >> \(folder)/postgresql.conf"])
  }

  private func control(_ arguments: String...) async throws {
    let command = control + arguments
    try await run(command)
  }

  fileprivate func remove() async {
    // `try?`: it may be stopped already, and a leftover folder does no harm.
    try? await stop()
    try? await run(Array(control.dropLast()) + ["rm", "-rf", folder])
    for suffix in ["key", "crt", "other.key", "other.crt"] {
      try? FileManager.default.removeItem(atPath: "\(folder).\(suffix)")
    }
  }
}

package func withPostgresServer(tls: Bool = false, _ body: (PostgresServer) async throws -> Void) async throws {
  let postgresServer = try await PostgresServer(tls: tls)
  do { try await body(postgresServer) } catch {
    await postgresServer.remove()
    throw error
  }
  await postgresServer.remove()
}
