import Synchronization
import Wire

/// Serves a fallback while a service does not answer, so that callers do not wait for it.
package final class CircuitBreaker: Sendable {
  private enum State {
    /// The last call was answered.
    case closed
    /// The last call was not answered; one caller starts a probe, and nobody waits for its result.
    case halfOpen
    /// No calls are made.
    case open
  }

  private let openUntil = Mutex<ContinuousClock.Instant?>(nil)
  private let pause: Duration
  /// How long a probe may take before the next one starts.
  private let probeTimeout = Duration.seconds(10)

  /// - Parameter pause: how long no calls are made after one that failed.
  package init(pause: Duration = .seconds(3)) { self.pause = pause }

  /// The result of `operation`; `fallback` while the service does not answer.
  ///
  /// - Throws: a ``Failure`` of `operation` that is no server fault, and any error that is no `Failure`.
  package func call<T: Sendable>(
    fallback: @autoclosure () -> T, _ operation: @escaping @Sendable () async throws -> T
  ) async throws -> T {
    switch state() {
    case .closed: return try await result(of: operation) ?? fallback()
    case .halfOpen:
      // `try?`: the caller has its fallback already.
      Task.detached { [self] in _ = try? await result(of: operation) }
      return fallback()
    case .open: return fallback()
    }
  }

  /// nil when the service did not answer.
  private func result<T>(of operation: () async throws -> T) async throws -> T? {
    do {
      let result = try await operation()
      openUntil.withLock { $0 = nil }
      return result
    } catch let failure as Failure {
      openUntil.withLock { $0 = failure.isServerFault ? ContinuousClock.now + pause : nil }
      guard failure.isServerFault else { throw failure }
      return nil
    }
  }

  private func state() -> State {
    openUntil.withLock { openUntil in
      guard let end = openUntil else { return .closed }
      let now = ContinuousClock.now
      guard end <= now else { return .open }
      openUntil = now + probeTimeout
      return .halfOpen
    }
  }
}
