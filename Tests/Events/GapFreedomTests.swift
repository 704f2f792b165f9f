import Database
import Foundation
import Support
import Synchronization
import Testing
import Wire

/// Readers that lose their connections at random, on replicas that are restarted and whose database connections break,
/// get every event of their topic, in order and once. `KITH_EVENTS_DISCONNECTS` sets how often a reader is disconnected.
@Suite struct GapFreedomTests {
  private static let disconnects =
    ProcessInfo.processInfo.environment["KITH_EVENTS_DISCONNECTS"].flatMap { Int($0) } ?? 40

  @Test(arguments: engines) func nothingIsLostNothingComesTwiceAndTheOrderIsKept(_ engine: Engine) async throws {
    try await withEvents(engine) { first in
      let replicas = Replicas([first.port])
      let deliveries = Deliveries()
      let run = { @Sendable in try await Self.run(first, replicas, deliveries) }
      guard engine == .postgres else { return try await run() }
      // A second replica, which is restarted while the readers read.
      let restarts = Task {
        while !Task.isCancelled {
          try await withEvents(on: first.testDatabase, first.owner) { second in
            replicas.set([first.port, second.port])
            // `try?`: cancelled at the end.
            try? await Task.sleep(for: .milliseconds(1500))
            replicas.set([first.port])
          }
        }
      }
      let breaks = Task {
        while !Task.isCancelled {
          let count = deliveries.count
          try await Task.sleep(for: .milliseconds(700))
          // On a busy machine a delivery may take longer than that.
          guard deliveries.count > count else { continue }
          try await executeSQL(first.testDatabase.databaseURL, Self.breakConnections)
        }
      }
      let result = await Result { try await run() }
      breaks.cancel()
      restarts.cancel()
      // `try?`: as below.
      try? await breaks.value
      // `try?`: it was cancelled.
      try? await restarts.value
      try result.get()
    }
  }

  /// What a crash of PostgreSQL does to its clients.
  private static let breakConnections = """
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()
    """

  /// Delivers as a producer does, until the answer says that everything is stored.
  private static func deliver(_ events: [FeedEvent], _ fixture: EventsFixture) async throws {
    try await eventually("a delivery") {
      do {
        try await fixture.deliver(events)
        return true
      } catch is Unexpected { return false }
    }
  }

  /// The ports at which readers can connect.
  private final class Replicas: Sendable {
    private let ports: Mutex<[Int]>
    init(_ ports: [Int]) { self.ports = Mutex(ports) }
    func set(_ ports: [Int]) { self.ports.withLock { $0 = ports } }
    var any: Int { ports.withLock { $0.randomElement() ?? 0 } }
  }

  private final class Deliveries: Sendable {
    private let delivered = Mutex(0)
    var count: Int { delivered.withLock { $0 } }
    func add() { delivered.withLock { $0 += 1 } }
  }

  private static func run(_ fixture: EventsFixture, _ replicas: Replicas, _ deliveries: Deliveries) async throws {
    let isDone = Kept<Int>()
    let producer = Task {
      // Also when a delivery fails: the readers would wait for events.
      defer { isDone.set(0) }
      var random = SeededRandom(seed: 7)
      var count = 0
      while isDone.value == nil {
        let size = Int.random(in: 1...5, using: &random)
        let events = (1...size).map { fixture.event(count + $0, "lists:42") }
        try await deliver(events, fixture)
        deliveries.add()
        // The producer crashed before it saw the answer.
        if Int.random(in: 0..<5, using: &random) == 0 { try await deliver(events, fixture) }
        count += size
        try await Task.sleep(for: .milliseconds(Int.random(in: 0...30, using: &random)))
      }
      return count
    }
    let readers = (0..<3).map { index in
      Task { try await read(fixture, replicas, random: SeededRandom(seed: UInt64(index)), seed: index, isDone) }
    }
    let finished = Task {
      // The readers that disconnect as often as they shall end first; then the producer ends.
      for reader in readers { _ = await reader.result }
    }
    await finished.value
    isDone.set(0)
    let total = try await producer.value
    #expect(total > 0)
    for reader in readers {
      let (numbers, epoch) = try await reader.value
      #expect(numbers == Array(1...max(1, numbers.count)))
      // What was appended after the last disconnect is still to be had.
      let socket = try await SocketClient.connect(port: fixture.port)
      let person = try fixture.reader(of: "lists:42")
      let place = epoch.isEmpty ? #""since":0"# : #""since":\#(numbers.count),"epoch":"\#(epoch)""#
      try await eventually("the join") {
        try await socket.join("realtime:lists:42", person.token, place).status == "ok"
      }
      let rest = try await socket.nextEvents(total - numbers.count).compactMap(\.number)
      #expect(numbers + rest == Array(1...total))
      try await socket.close()
    }
  }

  /// - Returns: the numbers of all events in the order in which they came.
  private static func read(
    _ fixture: EventsFixture, _ replicas: Replicas, random: SeededRandom, seed: Int, _ isDone: Kept<Int>
  ) async throws -> (numbers: [Int], epoch: String) {
    var random = random
    let person = try fixture.reader(of: "lists:42")
    var numbers: [Int] = []
    var epoch = ""
    for _ in 0..<disconnects where isDone.value == nil {
      do {
        let socket = try await SocketClient.connect(port: replicas.any, version: seed == 0 ? "1.0.0" : "2.0.0")
        let place = epoch.isEmpty ? #""since":0"# : #""since":\#(numbers.count),"epoch":"\#(epoch)""#
        let reply = try await socket.join("realtime:lists:42", person.token, place)
        guard reply.status == "ok" else {
          try await socket.close()
          continue
        }
        epoch = reply.payload["response"]?["epoch"]?.string ?? ""
        for _ in 0..<Int.random(in: 0...40, using: &random) {
          let event = try await socket.nextEvent()
          guard let number = event.number, event.seq == number else {
            throw Unexpected(reply: "after \(numbers.count): \(event)")
          }
          numbers.append(number)
        }
        try await socket.close()
      } catch let unexpected as Unexpected where unexpected.reply.hasPrefix("after") {
        throw unexpected
      } catch {
        // The replica stopped: the reader connects again.
        try await Task.sleep(for: .milliseconds(5))
      }
    }
    return (numbers, epoch)
  }
}

extension Result where Failure == any Error {
  fileprivate init(_ body: () async throws -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}
