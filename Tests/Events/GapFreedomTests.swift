import Database
import Foundation
import Support
import Synchronization
import Testing
import Wire

/// Readers of sockets and of a stream that lose their connections at random, on replicas that are restarted and whose
/// database connections break, get every event of their topic, in order and once. `KITH_EVENTS_DISCONNECTS` sets how often a reader is disconnected.
@Suite struct GapFreedomTests {
  private static let disconnects =
    ProcessInfo.processInfo.environment["KITH_EVENTS_DISCONNECTS"].flatMap { Int($0) } ?? 40

  @Test(arguments: engines) func nothingIsLostNothingComesTwiceAndTheOrderIsKept(_ engine: Engine) async throws {
    try await withEvents(engine) { first in
      let replicas = Replicas([first.port])
      let faults = Faults(isNeeded: engine == .postgres)
      let run = { @Sendable in try await Self.run(first, replicas, faults) }
      guard engine == .postgres else { return try await run() }
      let restarts = Task { await Self.restart(first, replicas, faults) }
      let breaks = Task { await Self.breakConnections(of: first, faults) }
      let result = await Result { try await run() }
      breaks.cancel()
      restarts.cancel()
      await breaks.value
      await restarts.value
      try result.get()
      // The premise: it was as bad as it shall be.
      #expect(faults.restarts >= Faults.restartsMin && faults.breaks >= Faults.breaksMin, "\(faults.description)")
    }
  }

  /// Restarts a second replica while the readers read.
  private static func restart(_ first: EventsFixture, _ replicas: Replicas, _ faults: Faults) async {
    while !Task.isCancelled {
      do {
        try await withEvents(on: first.testDatabase, first.owner) { second in
          replicas.set([first.port, second.port])
          // `try?`: cancelled at the end.
          try? await Task.sleep(for: .milliseconds(1500))
          replicas.set([first.port])
        }
        faults.addRestart()
      } catch {
        // Connections break while a replica starts, too. Those that have started are counted.
        replicas.set([first.port])
        faults.note(error)
      }
    }
  }

  private static func breakConnections(of first: EventsFixture, _ faults: Faults) async {
    while !Task.isCancelled {
      let count = faults.deliveries
      do {
        try await Task.sleep(for: .milliseconds(700))
        // On a busy machine a delivery may take longer than that.
        guard faults.deliveries > count else { continue }
        try await executeSQL(first.testDatabase.databaseURL, breakConnections)
        faults.addBreak()
      } catch {
        if !Task.isCancelled { faults.note(error) }
      }
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

  /// What has gone wrong so far, as it shall.
  private final class Faults: Sendable {
    private struct State {
      var deliveries = 0
      var restarts = 0
      var breaks = 0
      var lastError = ""
    }

    static let restartsMin = max(2, disconnects / 40)
    static let breaksMin = max(4, disconnects / 20)

    private let state = Mutex(State())
    private let isNeeded: Bool

    /// - Parameter isNeeded: whether readers go on until there were enough.
    init(isNeeded: Bool) { self.isNeeded = isNeeded }

    var deliveries: Int { state.withLock { $0.deliveries } }
    var restarts: Int { state.withLock { $0.restarts } }
    var breaks: Int { state.withLock { $0.breaks } }
    var areEnough: Bool {
      state.withLock { !isNeeded || $0.restarts >= Self.restartsMin && $0.breaks >= Self.breaksMin }
    }
    var description: String {
      state.withLock { "\($0.restarts) restarts, \($0.breaks) breaks; the last failure: \($0.lastError)" }
    }

    func addDelivery() { state.withLock { $0.deliveries += 1 } }
    func addRestart() { state.withLock { $0.restarts += 1 } }
    func addBreak() { state.withLock { $0.breaks += 1 } }
    func note(_ error: any Error) { state.withLock { $0.lastError = "\(error)" } }
  }

  private static func run(_ fixture: EventsFixture, _ replicas: Replicas, _ faults: Faults) async throws {
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
        faults.addDelivery()
        // The producer crashed before it saw the answer.
        if Int.random(in: 0..<5, using: &random) == 0 { try await deliver(events, fixture) }
        count += size
        try await Task.sleep(for: .milliseconds(Int.random(in: 0...30, using: &random)))
      }
      return count
    }
    let readers = (0..<4).map { index in
      Task {
        let random = SeededRandom(seed: UInt64(index))
        if index == 3 { return try await readStream(fixture, replicas, faults, random: random, isDone) }
        return try await read(fixture, replicas, faults, random: random, seed: index, isDone)
      }
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
      let (numbers, epoch, joins) = try await reader.value
      #expect(numbers == Array(1...max(1, numbers.count)))
      #expect(joins >= disconnects && numbers.count > joins, "\(joins) joins, \(numbers.count) events")
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

  /// - Returns: the numbers of all events in the order in which they came, and how often the reader has joined.
  private static func read(
    _ fixture: EventsFixture, _ replicas: Replicas, _ faults: Faults, random: SeededRandom, seed: Int,
    _ isDone: Kept<Int>
  ) async throws -> (numbers: [Int], epoch: String, joins: Int) {
    var random = random
    let person = try fixture.reader(of: "lists:42")
    var (numbers, epoch, joins) = ([Int](), "", 0)
    let end = ContinuousClock.now + .seconds(120 + 2 * disconnects)
    while joins < disconnects || !faults.areEnough, isDone.value == nil {
      guard ContinuousClock.now < end else {
        throw Unexpected(reply: "\(joins) of \(disconnects) joins, \(faults.description)")
      }
      var socket: SocketClient?
      do {
        let opened = try await SocketClient.connect(port: replicas.any, version: seed == 0 ? "1.0.0" : "2.0.0")
        socket = opened
        let place = epoch.isEmpty ? #""since":0"# : #""since":\#(numbers.count),"epoch":"\#(epoch)""#
        let reply = try await opened.join("realtime:lists:42", person.token, place)
        if reply.status == "ok" {
          joins += 1
          epoch = reply.payload["response"]?["epoch"]?.string ?? ""
          let count = Int.random(in: 0...40, using: &random)
          for _ in 0..<count { numbers.append(try number(of: try await opened.nextEvent(), after: numbers.count)) }
        } else if reply.reason?.hasPrefix("UnableToSubscribe") != true {
          throw OutOfOrder(description: "\(reply)")
        }
        try await opened.close()
      } catch let error as OutOfOrder {
        throw error
      } catch {
        // The replica stopped, or connections broke: the reader connects again. On an open channel events come.
        if let socket, !socket.isClosed, error is Unexpected { throw error }
        try await Task.sleep(for: .milliseconds(5))
      }
    }
    return (numbers, epoch, joins)
  }

  /// The same by server-sent events, which are resumed after the last id.
  private static func readStream(
    _ fixture: EventsFixture, _ replicas: Replicas, _ faults: Faults, random: SeededRandom, _ isDone: Kept<Int>
  ) async throws -> (numbers: [Int], epoch: String, joins: Int) {
    var random = random
    let person = try fixture.reader(of: "lists:42")
    var (numbers, epoch, joins, lastID) = ([Int](), "", 0, "0")
    let end = ContinuousClock.now + .seconds(120 + 2 * disconnects)
    while joins < disconnects || !faults.areEnough, isDone.value == nil {
      guard ContinuousClock.now < end else {
        throw Unexpected(reply: "\(joins) of \(disconnects) streams, \(faults.description)")
      }
      do {
        var stream = try await EventStreamClient(
          Browser("http://127.0.0.1:\(replicas.any)"), "topic=lists:42", token: person.token, lastEventID: lastID)
        guard stream.status == 200 else {
          // Streams that were left count for a moment.
          guard stream.status == 429 || stream.status >= 500 else { throw OutOfOrder(description: "\(stream.status)") }
          try await Task.sleep(for: .milliseconds(20))
          continue
        }
        joins += 1
        for _ in 0..<Int.random(in: 0...40, using: &random) {
          // A replica that stops ends its streams.
          guard let event = try await stream.next() else { break }
          guard let number = event.number, number == numbers.count + 1, event.seq == number else {
            throw OutOfOrder(description: "after \(numbers.count): \(event)")
          }
          numbers.append(number)
          (lastID, epoch) = (event.id, String(event.epoch ?? ""))
        }
      } catch let error as OutOfOrder {
        throw error
      } catch {
        // The replica stopped, or connections broke: the reader connects again.
        try await Task.sleep(for: .milliseconds(5))
      }
    }
    return (numbers, epoch, joins)
  }

  private struct OutOfOrder: Error { let description: String }

  private static func number(of event: SocketClient.Message, after last: Int) throws -> Int {
    guard let number = event.number, number == last + 1, event.seq == number else {
      throw OutOfOrder(description: "after \(last): \(event)")
    }
    return number
  }
}

extension Result where Failure == any Error {
  fileprivate init(_ body: () async throws -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}
