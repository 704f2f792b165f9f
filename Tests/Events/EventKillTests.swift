import Database
import Foundation
import Support
import Synchronization
import Testing
import Web
import Wire

/// kill -9 and restarts of the events service, of which there are two replicas on PostgreSQL, kill -9 of the service in
/// which things happen, and of PostgreSQL, in any order, while tasks are created and two apps read, which also disconnect
/// at random: the numbers that they read have no holes, and every task that was acknowledged is told once.
/// `KITH_EVENTS_KILLS` and `KITH_EVENTS_SEED` set how often, and in which order.
@Suite(.serialized) struct EventKillTests {
  private enum Victim: CaseIterable {
    case events, lists, postgres
    /// The other replica.
    case replica
    /// SIGTERM, at which sockets are closed with 1012.
    case stoppedEvents

    /// The process that ends; nil for PostgreSQL.
    var process: String? {
      switch self {
      case .events, .stoppedEvents: "events"
      case .lists: "lists"
      case .replica: Self.replicaName
      case .postgres: nil
      }
    }

    static let replicaName = "another replica of events"
  }

  private static let settings = ProcessInfo.processInfo.environment
  private static let killCount = settings["KITH_EVENTS_KILLS"].flatMap { Int($0) } ?? 5
  private static let seed = settings["KITH_EVENTS_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64.max)

  /// What is known while everything runs.
  private final class Progress: Sendable {
    private struct State {
      var acknowledged: [Int] = []
      var readCounts: [Int: Int] = [:]
      var isStopped = false
      var endedAt: ContinuousClock.Instant?
      var lastErrors: [Int: String] = [:]
    }

    /// How long after the end a reader may take to read the rest.
    private static let restDuration = Duration.seconds(180)

    private let state = Mutex(State())

    func acknowledge(_ task: Int) { state.withLock { $0.acknowledged.append(task) } }
    func set(_ count: Int, readBy reader: Int) { state.withLock { $0.readCounts[reader] = count } }
    func fail(_ error: any Error, reader: Int) { state.withLock { $0.lastErrors[reader] = "\(error)" } }
    /// Nothing is written from now on, but what is being sent.
    func stopWriting() { state.withLock { $0.isStopped = true } }
    var isStopped: Bool { state.withLock { $0.isStopped } }
    /// Nothing is acknowledged any more.
    func end() { state.withLock { $0.endedAt = .now } }
    var acknowledged: [Int] { state.withLock { $0.acknowledged } }
    var isOver: Bool { state.withLock { $0.endedAt != nil } }
    var isTooLate: Bool { state.withLock { $0.endedAt.map { ContinuousClock.now > $0 + Self.restDuration } ?? false } }
    /// Of the reader that has read least.
    var readCount: Int { state.withLock { $0.readCounts.values.min() ?? 0 } }
    var summary: String {
      state.withLock { "\($0.acknowledged.count) acknowledged, read \($0.readCounts), last errors \($0.lastErrors)" }
    }
  }

  private struct Fault: Error { let what: String }

  @Test(arguments: engines) func readersMissNothingWhoeverIsKilled(engine: Engine) async throws {
    print("KITH_EVENTS_KILLS=\(Self.killCount) KITH_EVENTS_SEED=\(Self.seed) on \(engine.rawValue)")
    guard engine == .postgres else { return try await run(postgres: nil) }
    try await withPostgresServer { server in try await run(postgres: server) }
  }

  private func run(postgres: PostgresServer?) async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      var settings = ["EVENTS_CLOSE_SECONDS": "1"]
      let ports = [String(try freePort()), String(try freePort())].prefix(postgres == nil ? 1 : 2)
      settings["EVENTS_PORT"] = ports.first
      settings["EVENTS_URL"] = ports.map { "http://127.0.0.1:\($0)" }.joined(separator: ",")
      settings["DATABASE_URL"] = postgres?.url
      let processes = try ServiceProcesses(["auth", "lists", "events"], in: testDatabase, settings)
      var running = processes.all
      if postgres != nil { running[Victim.replicaName] = try processes.restart("events", onPort: ports.last) }
      for process in running.values { try await process.healthy("/health/ready") }
      let alice = try await signIn(through: try #require(running["auth"]).gateway)
      let app = try #require(running["lists"]).gateway.bearing(alice.access)
      let list = try await app.done(.POST, "/api/v1/lists", ["list": ["name": "Groceries"]]).id(of: "list")
      let progress = Progress()
      let eventsPorts = ports.compactMap { Int($0) }
      let readers = (0..<2).map { number in
        Task { try await Self.read("lists:\(list)", at: eventsPorts, alice.access, as: number, progress) }
      }
      let writer = Task { await Self.write(to: list, app, progress) }
      do {
        var random = SeededRandom(seed: Self.seed)
        var victims = Victim.allCases.filter { ![.postgres, .replica].contains($0) || postgres != nil }
          .shuffled(using: &random)
        while victims.count < Self.killCount { victims.append(victims.randomElement(using: &random) ?? .events) }
        for victim in victims {
          try await expectProgress(progress, "before the end of \(victim)")
          try await kill(victim, processes, &running, postgres)
        }
        try await expectProgress(progress, "after the last end")
      } catch {
        progress.stopWriting()
        for reader in readers { reader.cancel() }
        throw error
      }
      progress.stopWriting()
      await writer.value
      progress.end()
      for reader in readers { expect(try await reader.value, progress) }
      for process in running.values { _ = await process.stop() }
    }
  }

  private func signIn(through auth: Browser) async throws -> SignedInUser {
    let reply = try await auth.with(["X-Admin-Key": TestStack.adminKey])
      .post("/api/v1/auth/dev/token", ["email": "alice@example.com", "display_name": "alice"])
    return try await SignedInUser(reply, through: auth)
  }

  private func expectProgress(_ progress: Progress, _ what: String) async throws {
    let (read, written) = (progress.readCount, progress.acknowledged.count)
    try await eventually("progress \(what), \(progress.summary),") {
      progress.readCount > read + 5 && progress.acknowledged.count > written + 5
    }
  }

  private func kill(
    _ victim: Victim, _ processes: ServiceProcesses, _ running: inout [String: KithProcess],
    _ postgres: PostgresServer?
  ) async throws {
    guard let name = victim.process, let process = running[name] else {
      // An immediate stop: whatever is not committed is lost.
      try await postgres?.stop()
      try await postgres?.start()
      return
    }
    if victim == .stoppedEvents {
      #expect(await process.stop() == 0)
    } else {
      await process.kill()
    }
    let started = try processes.restart(victim == .lists ? "lists" : "events", onPort: process.environment["PORT"])
    running[name] = started
    try await started.healthy("/health/ready")
  }

  private func expect(_ events: [SocketClient.Message], _ progress: Progress) {
    #expect(events.compactMap(\.seq) == Array(1...max(1, events.count)))
    let told = events.filter { $0.name == "task_created" }.compactMap { $0.payload["payload"]?["task_id"]?.int }
    #expect(Set(told).count == told.count)
    #expect(told == told.sorted(), "tasks are created one after the other")
    #expect(Set(told).isSuperset(of: progress.acknowledged))
    // The premise: most was told while something was killed.
    #expect(progress.acknowledged.count > 5 * Self.killCount)
  }

  /// A list has room for 5,000 tasks: the more kills, the fewer are created between two of them.
  private static let pause = Duration.milliseconds(max(10, 3 * killCount))

  /// Creates tasks, each until that is acknowledged.
  private static func write(to list: Int, _ lists: Browser, _ progress: Progress) async {
    var number = 0
    while !progress.isStopped {
      number += 1
      let app = lists.with(["Idempotency-Key": "task-\(number)"])
      let task: [String: any Sendable] = ["task": ["title": "Task \(number)"]]
      while !progress.isStopped {
        // `try?`: the service was killed.
        let reply = try? await app.post("/api/v1/lists/\(list)/tasks", task)
        if let reply, reply.status == 201 {
          progress.acknowledge(reply.id(of: "task"))
          break
        }
        // `try?`: nothing cancels this task.
        try? await Task.sleep(for: .milliseconds(20))
      }
      // `try?`: as above.
      try? await Task.sleep(for: pause)
    }
  }

  /// Reads a topic, each time from where the connection before ended, until it has everything that was acknowledged.
  private static func read(
    _ topic: String, at ports: [Int], _ token: String, as reader: Int, _ progress: Progress
  ) async throws -> [SocketClient.Message] {
    var random = SeededRandom(seed: seed &+ UInt64(reader))
    var events: [SocketClient.Message] = []
    var epoch = ""
    func isFinished() -> Bool {
      guard progress.isOver else { return false }
      let told = Set(events.compactMap { $0.payload["payload"]?["task_id"]?.int })
      return told.isSuperset(of: progress.acknowledged)
    }
    while !isFinished(), !Task.isCancelled {
      guard !progress.isTooLate else { throw Fault(what: "not everything was told, but \(events.count) events") }
      do {
        let socket = try await SocketClient.connect(port: ports.randomElement(using: &random) ?? 0)
        defer { socket.channel.close(promise: nil) }
        let place = epoch.isEmpty ? #""since":0"# : #""since":\#(events.count),"epoch":"\#(epoch)""#
        let reply = try await socket.join("realtime:\(topic)", token, place)
        guard reply.status == "ok" else { throw Unexpected(reply: "\(reply)") }
        let joined = reply.payload["response"]?["epoch"]?.string ?? ""
        guard epoch.isEmpty || epoch == joined else { throw Fault(what: "another epoch") }
        epoch = joined
        // Then it loses its connection by itself.
        let last = events.count + Int.random(in: 1...100, using: &random)
        while !isFinished(), events.count < last {
          // Not long, as there may be no other before the end.
          let event = try await socket.nextEvent(within: .seconds(30))
          guard event.name != "gap", event.seq == events.count + 1 else {
            throw Fault(what: "after \(events.count): \(event)")
          }
          events.append(event)
          progress.set(events.count, readBy: reader)
        }
      } catch let fault as Fault {
        progress.fail(fault, reader: reader)
        throw fault
      } catch {
        progress.fail(error, reader: reader)
        // The service was killed: the app connects again.
        try await Task.sleep(for: .milliseconds(50))
      }
    }
    return events
  }
}
