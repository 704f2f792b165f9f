import Database
import Foundation
import Synchronization
import Web
import Wire

/// Makes answers that cost credits: they are held before the work, captured when the answer is there, and given back
/// when it is not.
///
/// With an `Idempotency-Key` the answer is stored in the transaction that charges it: whoever has lost the reply repeats
/// the request, gets it, and has paid once.
struct ChargedWork: Sendable {
  let database: any Database
  let charges: Charges
  let idempotency: Idempotency
  let timeout: Duration
  let now: @Sendable () -> Date

  /// Longer than any request, and than what may follow it.
  private static let holdSeconds = 3600
  /// After the time of the request, when the process may have died.
  private static let graceSeconds = 60.0

  /// - Parameters:
  ///   - receiver: gets the pieces of the answer as they come.
  ///   - onBegin: called when the credits are held. Not called for a repeated request.
  /// - Throws: 402 when there are too few credits, and then nothing was begun; 409 while the first request with this
  ///   key runs; 422, 502, 503 and 504 when there is no answer. For a request with a key, failures that a repetition
  ///   would have again are a reply.
  func reply(
    to interaction: PreparedInteraction, receiver: InteractionReceiver? = nil,
    onBegin: @escaping @Sendable () -> Void = {}
  ) async throws -> Reply {
    let charge = Box<ChargeID>()
    let made = Box<Reply>()
    let due = now() + timeout.inSeconds + Self.graceSeconds
    do {
      let reply = try await idempotency.claimed(interaction.call) {
        do {
          charge.value = try await begin(on: interaction.timepoint, by: interaction.viewer, due: due)
        } catch let failure as Failure { throw NotBegun(failure: failure) }
        onBegin()
        return try await inTime { try await interaction.answer(receiver) }
      } effect: { answer, db in
        if let charge = charge.value, try !ChargeStore.decide(charge, .earned, due: due, on: db) {
          throw Failure.unavailable
        }
        let reply = try answer.reply(db)
        made.value = reply
        return reply
      }
      return try await settled(reply, charge.value)
    } catch DatabaseFailure.outcomeUnknown {
      // What is charged is handed over.
      guard let charge = charge.value, let reply = made.value, try await isEarned(charge) else {
        throw DatabaseFailure.outcomeUnknown
      }
      return try await settled(reply, charge)
    } catch let error as NotBegun { throw error.failure } catch {
      await release(charge.value)
      throw error
    }
  }

  /// Nothing was begun, so the reply is not kept for the key: credits may be bought and the request repeated.
  private struct NotBegun: Error {
    let failure: Failure
  }

  /// Holds the price. Until it is earned it is given back by itself at `due`.
  ///
  /// - Returns: nil where nothing costs credits.
  private func begin(on timepoint: TimepointID, by viewer: Viewer, due: Date) async throws -> ChargeID? {
    guard !viewer.isOpen, let user = viewer.user else { return nil }
    let charge = Charge(
      id: .new(at: now()), user: user, operation: PricedOperation.chat, reference: timepoint,
      lifetimeSeconds: Self.holdSeconds)
    let hold = try await charges.open(charge)
    try await database.write { db in try ChargeStore.hold(charge.id, hold, due: due, on: db) }
    return charge.id
  }

  /// Captures what is earned. A failure that was stored as the reply is not charged.
  private func settled(_ reply: Reply, _ charge: ChargeID?) async throws -> Reply {
    guard reply.status == 200 else {
      await release(charge)
      return reply
    }
    guard let charge else { return reply }
    // `try?`: when that is not possible at the moment, a worker does it later.
    let isCaptured = try? await charges.capture(charge)
    if isCaptured == false { throw Failure.creditsGone }
    return reply
  }

  /// In a task of its own, which is not cancelled with the request. When it fails, the charge is given back when it is
  /// due.
  private func release(_ charge: ChargeID?) async {
    guard let charge else { return }
    // `try?`: the reason why it is released is what the user is to know.
    await Task { [charges] in try? await charges.release(charge) }.value
  }

  private func isEarned(_ charge: ChargeID) async throws -> Bool {
    try await database.readOnce { db in try ChargeStore.isEarned(charge, on: db) }
  }

  /// - Throws: what is for the user.
  private func inTime<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) async throws -> T {
    do {
      return try await withThrowingTaskGroup(of: T.self) { [timeout] group in
        group.addTask { try await body() }
        group.addTask {
          try await Task.sleep(for: timeout)
          throw PipelineFailure.timedOut
        }
        defer { group.cancelAll() }
        guard let result = try await group.next() else { throw CancellationError() }
        return result
      }
    } catch let failure as PipelineFailure { throw failure.ofAnswer }
  }
}

/// What one part of a request leaves for a later one.
private final class Box<Value: Sendable>: Sendable {
  private let content = Mutex<Value?>(nil)

  var value: Value? {
    get { content.withLock { $0 } }
    set { content.withLock { $0 = newValue } }
  }
}

extension Duration {
  var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }

  var inMilliseconds: Int { Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000) }
}
