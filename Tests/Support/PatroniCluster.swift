import Foundation

/// Two PostgreSQL servers under Patroni with synchronous replication, and etcd, on loopback: when the primary dies, the
/// standby takes over, and has every transaction whose commit was acknowledged.
package struct PatroniCluster: Sendable {
  private struct Node: Sendable {
    let name: String
    let databasePort: Int
    let api: Browser
    let data: String
    let patroni: ChildProcess
  }

  /// The URL of the database on whichever of the two is the primary.
  package let url: String
  /// The URL of the same database on the standby.
  package let standbyURL: String
  private let folder: String
  private let asServer: [String]
  private let etcd: ChildProcess
  private let nodes: [Node]

  /// Whether Patroni and etcd are installed, and `make test` runs.
  package static var isInstalled: Bool {
    guard ProcessInfo.processInfo.environment["KITH_TEST_PG_CTL"] != nil else { return false }
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    return ["patroni", "etcd"].allSatisfy { name in
      path.split(separator: ":").contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(name)") }
    }
  }

  fileprivate init() async throws {
    let control = ProcessInfo.processInfo.environment["KITH_TEST_PG_CTL"]?.split(separator: " ").last ?? ""
    let programs = (String(control) as NSString).deletingLastPathComponent
    // PostgreSQL refuses to run as root.
    asServer = geteuid() == 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] : []
    folder = "/tmp/kith-patroni-\(UUID().uuidString.prefix(8))"
    try await run(asServer + ["mkdir", "-m", "755", folder])
    let ports = try (0..<6).map { _ in try freePort() }
    etcd = try Self.startEtcd(asServer, folder, client: ports[4], peer: ports[5])
    var nodes: [Node] = []
    for number in 0..<2 {
      let (database, rest) = (ports[2 * number], ports[2 * number + 1])
      let (name, data) = ("n\(number)", "\(folder)/n\(number)")
      let file = "\(folder)-\(name).yml"
      try Self.configuration(name, folder, data, programs, etcd: ports[4], database: database, rest: rest)
        .write(toFile: file, atomically: true, encoding: .utf8)
      let patroni = try ChildProcess(asServer + ["patroni", file], output: "\(file).log")
      let node = Node(
        name: name, databasePort: database, api: Browser("http://127.0.0.1:\(rest)"), data: data, patroni: patroni)
      nodes.append(node)
      // The second one copies the first.
      try await Self.eventually(node, number == 0 ? "/primary" : "/sync")
    }
    self.nodes = nodes
    let hosts = nodes.map { "127.0.0.1:\($0.databasePort)" }.joined(separator: ",")
    url = "postgresql://kith@\(hosts)/postgres?target_session_attrs=read-write"
    standbyURL = "postgresql://kith@\(hosts)/postgres?target_session_attrs=prefer-standby"
  }

  /// Kills the primary as a power cut would end it, and returns when the standby has taken over: it has committed a
  /// write. Patroni says so up to a second later.
  package func killPrimary() async throws {
    var primary: Node?
    for node in nodes where await Self.isTrue(node, "/primary") { primary = node }
    guard let primary, let standby = nodes.first(where: { $0.name != primary.name }) else {
      throw Unexpected(reply: "the cluster has no primary")
    }
    let file = try String(contentsOfFile: "\(primary.data)/postmaster.pid", encoding: .utf8)
    guard let id = file.split(separator: "\n").first.flatMap({ pid_t($0) }) else { throw Unexpected(reply: file) }
    guard kill(id, SIGKILL) == 0 else { throw Unexpected(reply: "cannot kill \(id)") }
    try await Support.eventually("a write on \(standby.name)", within: .seconds(300)) {
      await Self.acceptsWrites(standby)
    }
  }

  /// Returns when the server that was killed follows the new primary, which waits for it with each commit. Until
  /// Patroni has noticed its promotion, the new primary is still called the synchronous standby.
  package func waitUntilReplicated() async throws {
    try await Support.eventually("a synchronous standby", within: .seconds(300)) {
      var (isLed, isFollowed) = (false, false)
      for node in nodes {
        if await Self.isTrue(node, "/primary") {
          isLed = true
        } else if await Self.isTrue(node, "/sync") {
          isFollowed = true
        }
      }
      return isLed && isFollowed
    }
  }

  fileprivate func remove() async {
    // The standby first: a primary that is stopped waits for it.
    for node in nodes { node.patroni.signal(SIGTERM) }
    for node in nodes { _ = await node.patroni.end(within: .seconds(30)) }
    etcd.signal(SIGTERM)
    _ = await etcd.end(within: .seconds(10))
    for node in nodes {
      // `try?`: it is gone when it has stopped in time.
      let file = try? String(contentsOfFile: "\(node.data)/postmaster.pid", encoding: .utf8)
      if let id = file?.split(separator: "\n").first.flatMap({ pid_t($0) }) { _ = kill(id, SIGKILL) }
    }
    // `try?`: a leftover folder does no harm.
    try? await run(asServer + ["rm", "-rf", folder])
    for node in nodes {
      for suffix in ["yml", "yml.log"] {
        try? FileManager.default.removeItem(atPath: "\(folder)-\(node.name).\(suffix)")
      }
    }
  }

  private static func eventually(_ node: Node, _ path: String) async throws {
    try await Support.eventually(
      "\(node.name)\(path); it printed: \(node.patroni.printed().suffix(1000))", within: .seconds(300)
    ) {
      await isTrue(node, path)
    }
  }

  private static func isTrue(_ node: Node, _ path: String) async -> Bool {
    // `try?`: it does not listen yet.
    (try? await node.api.get(path))?.status == 200
  }

  /// Commits wait for the standby that the primary has; this one is refused during recovery.
  private static func acceptsWrites(_ node: Node) async -> Bool {
    let url = "postgresql://kith@127.0.0.1:\(node.databasePort)/postgres?connect_timeout=5"
    do {
      try await executeSQL(url, "select pg_logical_emit_message(true, 'kith', 'a write')")
      return true
    } catch { return false }
  }

  private static func startEtcd(
    _ asServer: [String], _ folder: String, client: Int, peer: Int
  ) throws -> ChildProcess {
    let (client, peer) = ("http://127.0.0.1:\(client)", "http://127.0.0.1:\(peer)")
    return try ChildProcess(
      asServer + [
        "etcd", "--name", "e0", "--data-dir", "\(folder)/etcd", "--listen-client-urls", client,
        "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
        // A busy machine must not end the lease of the primary.
        "--initial-cluster", "e0=\(peer)", "--heartbeat-interval", "500", "--election-timeout", "5000",
      ])
  }

  /// `primary_start_timeout: 0` fails over instead of starting the primary that has died again.
  private static func configuration(
    _ name: String, _ folder: String, _ data: String, _ programs: String, etcd: Int, database: Int, rest: Int
  ) -> String {
    """
    scope: kith
    name: \(name)
    restapi: {listen: "127.0.0.1:\(rest)", connect_address: "127.0.0.1:\(rest)"}
    etcd3: {hosts: ["127.0.0.1:\(etcd)"]}
    bootstrap:
      dcs:
        ttl: 20
        loop_wait: 1
        retry_timeout: 5
        primary_start_timeout: 0
        synchronous_mode: true
        postgresql:
          use_pg_rewind: true
          parameters: {max_connections: 60, shared_buffers: 32MB}
      initdb: [{encoding: UTF8}, {locale: C}, data-checksums]
      pg_hba: ["host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"]
    postgresql:
      listen: "127.0.0.1:\(database)"
      connect_address: "127.0.0.1:\(database)"
      data_dir: \(data)
      bin_dir: \(programs)
      pgpass: \(folder)/pgpass-\(name)
      basebackup: [{checkpoint: fast}]
      authentication:
        superuser: {username: kith, password: kith}
        replication: {username: kith, password: kith}
        rewind: {username: kith, password: kith}
      parameters: {unix_socket_directories: "\(folder)"}
    watchdog: {mode: "off"}

    """
  }
}

package func withPatroniCluster(_ body: (PatroniCluster) async throws -> Void) async throws {
  let cluster = try await PatroniCluster()
  do { try await body(cluster) } catch {
    await cluster.remove()
    throw error
  }
  await cluster.remove()
}
