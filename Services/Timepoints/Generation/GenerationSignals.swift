import Database
import Synchronization
import Web
import Wire

/// Wakes those who wait for events of a generation: in this process at once, and in other processes by notifications of
/// PostgreSQL, which are sent with the commit. With SQLite there is one process.
final class GenerationSignals: Sendable {
  /// What is waited for.
  enum Subject: Hashable, Sendable { case events, end }

  private struct Key: Hashable {
    let timepoint: TimepointID
    let subject: Subject
  }

  private struct Entry {
    let signal = ChangeSignal()
    var waiterCount = 0
  }

  /// The PostgreSQL channel. The tables are the truth: a notification that is lost only delays those who wait.
  static let notifications = "kith_generations"
  private static let jobs = "jobs"
  private static let end = " end"

  /// After what time waiters look for themselves.
  let lookInterval: Duration
  private let engine: Engine
  private let process = Trace.newRequestID()
  private let entries = Mutex<[Key: Entry]>([:])

  init(engine: Engine, lookInterval: Duration) {
    self.engine = engine
    self.lookInterval = lookInterval
  }

  /// - Parameter isEnd: whether the generation has ended, with its last event.
  func send(_ timepoint: TimepointID, isEnd: Bool = false) {
    let subjects: [Subject] = isEnd ? [.events, .end] : [.events]
    let signals = entries.withLock { entries in
      subjects.compactMap { entries[Key(timepoint: timepoint, subject: $0)]?.signal }
    }
    for signal in signals { signal.send() }
  }

  func sendToAll() { entries.withLock { Array($0.values) }.forEach { $0.signal.send() } }

  /// The signal of a timepoint while `body` runs.
  func watching<T>(
    _ subject: Subject, of timepoint: TimepointID, _ body: (ChangeSignal) async throws -> T
  ) async rethrows -> T {
    let key = Key(timepoint: timepoint, subject: subject)
    let signal = entries.withLock { entries in
      entries[key, default: Entry()].waiterCount += 1
      return entries[key, default: Entry()].signal
    }
    defer {
      entries.withLock { entries in
        entries[key]?.waiterCount -= 1
        if entries[key]?.waiterCount == 0 { entries[key] = nil }
      }
    }
    return try await body(signal)
  }

  /// Notifies other processes that events of a generation are stored.
  func notify(_ timepoint: TimepointID, isEnd: Bool = false, on db: any Connection) throws {
    try notify("\(timepoint)\(isEnd ? Self.end : "")", on: db)
  }

  /// Notifies other processes that a job is due, which one of them may have room for.
  func notifyOfJobs(on db: any Connection) throws { try notify(Self.jobs, on: db) }

  private func notify(_ subject: String, on db: any Connection) throws {
    guard engine == .postgres else { return }
    try db.enqueue("select pg_notify(\(Self.notifications), \("\(process) \(subject)"))")
  }

  enum Notice: Hashable, Sendable {
    case events(TimepointID, isEnd: Bool)
    case jobs
  }

  /// What another process has notified; nil for a notification of this one.
  func notice(of payload: String) -> Notice? {
    let parts = payload.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, parts[0] != process else { return nil }
    guard parts[1] != Self.jobs else { return .jobs }
    let isEnd = parts[1].hasSuffix(Self.end)
    return TimepointID(String(parts[1].dropLast(isEnd ? Self.end.count : 0))).map { .events($0, isEnd: isEnd) }
  }
}
