import Database
import Foundation
import Web
import Wire

/// Work of a request that costs credits: they are held before it, captured when its result is there, and given back
/// when it fails.
struct ChargedWork: Sendable {
  let database: any Database
  let charges: Charges
  let timeout: Duration
  let now: @Sendable () -> Date

  /// Longer than any request, and than what may follow it.
  private static let holdSeconds = 3600
  /// After the time of the request, when the process may have died.
  private static let graceSeconds = 60.0

  /// Holds the price. Until ``earn(_:_:)`` the credits are given back by themselves, at the latest soon after the time
  /// that the work may take.
  ///
  /// - Throws: 402; then nothing was begun.
  /// - Returns: nil where nothing costs credits.
  func begin(_ operation: String, on timepoint: TimepointID, by viewer: Viewer) async throws -> ChargeID? {
    guard !viewer.isOpen, let user = viewer.user else { return nil }
    let now = now()
    let charge = Charge(
      id: .new(at: now), user: user, operation: operation, reference: timepoint, lifetimeSeconds: Self.holdSeconds)
    let hold = try await charges.open(charge)
    let due = now + timeout.inSeconds + Self.graceSeconds
    try await database.write { db in try ChargeStore.hold(charge.id, hold, due: due, on: db) }
    return charge.id
  }

  /// Stores the result, decides that it is charged, and charges it. When credits cannot be reached at the moment, a
  /// worker does that later.
  func earn<T: Sendable>(_ charge: ChargeID?, _ store: @escaping @Sendable (any Connection) throws -> T) async throws
    -> T
  {
    let due = now() + Self.graceSeconds
    let result = try await database.write { db in
      if let charge, try !ChargeStore.decide(charge, .earned, due: due, on: db) { throw Failure.unavailable }
      return try store(db)
    }
    guard let charge else { return result }
    do {
      guard try await charges.capture(charge) else { throw Failure.creditsGone }
    } catch let failure as Failure where failure.isServerFault {}
    return result
  }

  /// Does the work within its time, and gives the credits back when it fails, also when the request is called off.
  ///
  /// - Throws: what is for the user: 422, 502, 503 or 504.
  func attempt<T: Sendable>(_ charge: ChargeID?, _ body: @escaping @Sendable () async throws -> T) async throws -> T {
    do { return try await inTime(body) } catch {
      if let charge {
        // In a task of its own, which is not cancelled with the request.
        try await Task { [charges] in try await charges.release(charge) }.value
      }
      throw (error as? PipelineFailure)?.failure ?? error
    }
  }

  private func inTime<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) async throws -> T {
    try await withThrowingTaskGroup(of: T.self) { [timeout] group in
      group.addTask { try await body() }
      group.addTask {
        try await Task.sleep(for: timeout)
        throw PipelineFailure.timedOut
      }
      defer { group.cancelAll() }
      guard let result = try await group.next() else { throw CancellationError() }
      return result
    }
  }
}

extension Duration {
  var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }

  var inMilliseconds: Int { Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000) }
}
