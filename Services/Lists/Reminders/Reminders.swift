import Clients
import Database
import Foundation
import Logging
import ServiceLifecycle
import Web
import Wire

/// Records an event for each task that is due soon, once over all replicas: it is recorded in the transaction that
/// takes the task off the reminders.
struct Reminders: Service {
  let database: any Database
  let peopleCache: PeopleCache
  /// ``Dependencies/writes``: a task may have got a due date.
  let writes: ChangeSignal
  /// After this time it looks for tasks that another replica has written.
  let pollInterval: Duration
  let logger: Logger
  let now: @Sendable () -> Date

  private static let batchSize = 100

  func run() async throws {
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        let version = writes.version
        let pause = await remind()
        // `try?`: it throws only when cancelled. Not after each of many transactions.
        try? await Task.sleep(for: min(.seconds(1), pollInterval))
        await writes.wait(after: version, atMost: pause)
      }
    }
  }

  /// - Returns: how long there is nothing to do.
  private func remind() async -> Duration {
    do {
      while try await remindBatch() == Self.batchSize, !Task.isCancelled {}
      guard let next = try await database.readOnce({ db in try ReminderStore.nextCheck(on: db) }) else {
        return pollInterval
      }
      return min(pollInterval, max(.milliseconds(50), .seconds(next.timeIntervalSince(now()))))
    } catch {
      if !Task.isCancelled { logger.warning("nobody was reminded", metadata: ["error": "\(error)"]) }
      return pollInterval
    }
  }

  /// - Returns: how many tasks it has looked at.
  private func remindBatch() async throws -> Int {
    let now = now()
    guard let next = try await database.readOnce({ db in try ReminderStore.nextCheck(on: db) }), next <= now else {
      return 0
    }
    let due = try await database.read { db in try ReminderStore.due(at: now, limit: Self.batchSize, on: db) }
    let owners = try await peopleCache.people(Set(due.map(\.owner)))
    // Those of whom only the id is known have no time zone yet. All are looked at again after the pause.
    guard owners.values.allSatisfy({ $0.number > 0 }) else { throw Failure.unavailable }
    for reminder in due {
      let zone = owners[reminder.owner]?.timeZone.flatMap { TimeZone(identifier: $0) } ?? .gmt
      let (isDue, next) = reminder.outcome(at: now, in: zone)
      try await database.write { db in
        let task = try ReminderStore.set(reminder, to: next, on: db)
        guard isDue, let task, task.isOpen, task.dueAt == reminder.dueAt else { return }
        guard let recipient = try ReminderStore.recipient(of: task, on: db) else { return }
        TaskEvents.dueSoon(
          task, to: recipient, isToday: task.dueAt.map { ReminderTime.isEndOfDay($0, in: zone) } ?? false, at: now,
          on: db)
      }
    }
    return due.count
  }
}
