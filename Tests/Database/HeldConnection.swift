import Database
import Foundation

/// Keeps one connection of a database busy until a test releases it.
struct HeldConnection: Sendable {
  private let entered = AsyncStream<Void>.makeStream()
  private let released = DispatchSemaphore(value: 0)

  /// Returns after ``release()``: true, or false when that was not called within ten minutes.
  func hold(_ database: any Database) async throws -> Bool {
    try await database.read { _ in wait() }
  }

  /// For a body that is given the connection. Returns as ``hold(_:)`` does.
  func wait() -> Bool {
    entered.continuation.yield()
    return released.wait(timeout: .now() + 600) == .success
  }

  /// Returns once the connection is in use.
  func waitUntilHeld() async { for await _ in entered.stream { break } }

  func release() { released.signal() }
}
