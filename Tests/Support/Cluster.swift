import Foundation

/// A PostgreSQL server of a test's own, that it may stop, start and put behind TLS.
package struct Cluster: Sendable {
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
  package func strangersCertificate() async throws -> String {
    try await Self.makeCertificate(key: "\(folder).other.key", certificate: "\(folder).other.crt")
    return "\(folder).other.crt"
  }

  private func useCertificate() async throws {
    try await Self.makeCertificate(key: "\(folder).key", certificate: certificate)
    // The server runs as another user when the tests run as root, and insists on owning its key.
    let asServer = control.dropLast()
    for name in ["key", "crt"] {
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: "\(folder).\(name)")
      try await run(Array(asServer) + ["cp", "\(folder).\(name)", "\(folder)/server.\(name)"])
    }
    try await run(Array(asServer) + ["chmod", "600", "\(folder)/server.key"])
    try await run(Array(asServer) + ["sh", "-c", "echo 'ssl = on' >> \(folder)/postgresql.conf"])
  }

  private static func makeCertificate(key: String, certificate: String) async throws {
    try await run([
      "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
      "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate,
    ])
  }

  private func control(_ arguments: String...) async throws {
    let command = control + arguments
    try await run(command)
  }

  fileprivate func remove() async {
    // `try?`: it may have been stopped, and what is left of a test's folder harms nobody.
    try? await stop()
    try? await run(Array(control.dropLast()) + ["rm", "-rf", folder])
    for suffix in ["key", "crt", "other.key", "other.crt"] {
      try? FileManager.default.removeItem(atPath: "\(folder).\(suffix)")
    }
  }
}

package func withCluster(tls: Bool = false, _ body: (Cluster) async throws -> Void) async throws {
  let cluster = try await Cluster(tls: tls)
  do { try await body(cluster) } catch {
    await cluster.remove()
    throw error
  }
  await cluster.remove()
}
