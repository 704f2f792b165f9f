import Foundation
import Support
import Testing

@testable import Database

/// Writes that wait for each other, on a table `entry` with a `name`.
extension SQLite {
  typealias Write = @Sendable () async throws -> Void

  func add(_ name: String) async throws {
    try await write { try $0.change("insert into entry (name) values (\(name))") }
  }

  /// The entries in the order in which they were written.
  func names() async throws -> [String] {
    try await read { try $0.rows("select name from entry order by id").map { try $0.get("name") } }
  }

  /// The writer, busy until it is released.
  func heldWriter() async -> HeldConnection {
    let writer = HeldConnection()
    Task {
      let isReleased = try await write { _ in writer.wait() }
      #expect(isReleased)
    }
    await writer.waitUntilHeld()
    return writer
  }

  /// Starts `writes` in this order while the writer is busy, so that they all wait when it is released.
  func waiting(_ writes: [Write]) async throws -> (HeldConnection, [Task<Void, any Error>]) {
    let writer = await heldWriter()
    var tasks: [Task<Void, any Error>] = []
    for write in writes {
      tasks.append(Task { try await write() })
      try await eventually("a write that waits") { waitingCount == tasks.count }
    }
    // Longer than a batch lasts, so that they are not in the batch that holds the writer.
    try await Task.sleep(for: .milliseconds(10))
    return (writer, tasks)
  }

  /// The results of `writes` that become one batch, unless the machine is slow, in this order.
  func together(_ writes: [Write]) async throws -> [Result<Void, any Error>] {
    let (writer, tasks) = try await waiting(writes)
    writer.release()
    var results: [Result<Void, any Error>] = []
    for task in tasks { results.append(await task.result) }
    return results
  }
}

extension Result where Failure == any Error {
  var databaseFailure: DatabaseFailure? {
    guard case .failure(let error) = self else { return nil }
    return error as? DatabaseFailure
  }
}
