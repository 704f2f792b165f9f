import Foundation

/// How messages of one kind are sent: the function that sends one, its timeout and when to give up.
package struct Delivery: Sendable {
  package static let day: Duration = .seconds(86_400)
  package static let month: Duration = .seconds(30 * 86_400)

  let kind: String
  let timeout: Duration
  let giveUpAfter: Duration
  let unknownOutcomeDelay: Duration
  private let send: @Sendable (OutboxMessage) async throws -> Void

  /// - Parameters:
  ///   - timeout: of one try, which is then cancelled.
  ///   - giveUpAfter: how long after it was written a message is retried.
  ///   - unknownOutcomeDelay: the minimum delay after a try with unknown outcome, because it timed out or was cancelled
  ///     by a shutdown: for a `send` that first queries the outcome of the previous try where that takes time to be
  ///     visible.
  ///   - send: throws ``Undeliverable`` for a permanent failure, ``TryLater`` when the receiver has set the delay, or a
  ///     ``RetryableFailure``, which is translated into one of them; any other error for a retry. Errors are logged:
  ///     they must not contain personal data. After a crash it may be called again for a message that was sent, with
  ///     the same `OutboxMessage.id`.
  package init(
    _ kind: String, timeout: Duration = .seconds(20), giveUpAfter: Duration = Delivery.day,
    unknownOutcomeDelay: Duration = .zero, send: @escaping @Sendable (OutboxMessage) async throws -> Void
  ) {
    self.kind = kind
    self.timeout = timeout
    self.giveUpAfter = giveUpAfter
    self.unknownOutcomeDelay = unknownOutcomeDelay
    self.send = send
  }

  func deliver(_ message: OutboxMessage) async throws {
    try await withThrowingTaskGroup(of: Void.self) { [timeout] group in
      group.addTask { try await sendOnce(message) }
      group.addTask {
        try await Task.sleep(for: timeout)
        throw DeliveryTimeout(limit: timeout)
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  private func sendOnce(_ message: OutboxMessage) async throws {
    do { try await send(message) } catch let failure as any RetryableFailure {
      guard failure.isRetryable else { throw Undeliverable("\(failure)") }
      if let wait = failure.retryAfter { throw TryLater(after: wait) }
      throw failure
    }
  }
}

/// A permanent failure: the message is not tried again.
package struct Undeliverable: Error, CustomStringConvertible {
  package let reason: String

  /// - Parameter reason: for the log: no personal data.
  package init(_ reason: String) { self.reason = reason }

  package var description: String { reason }
}

/// A temporary failure for which the receiver has set the delay before the next try.
package struct TryLater: Error {
  package let wait: Duration

  package init(after wait: Duration) { self.wait = wait }
}

/// A try took longer than its timeout. Its outcome is unknown.
struct DeliveryTimeout: Error, CustomStringConvertible {
  let limit: Duration

  var description: String { "no end within \(limit)" }
}
