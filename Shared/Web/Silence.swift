import Synchronization
import Wire

/// Keeps everybody from waiting for a service that does not answer, where there is something to go on with meanwhile.
package final class Silence: Sendable {
  private enum Turn {
    /// It answered the last time.
    case ask
    /// It did not; one may find out whether it does again, and nobody waits for that.
    case askBeside
    case goOn
  }

  private let until = Mutex<ContinuousClock.Instant?>(nil)
  private let pause: Duration
  /// How long whoever asks may take before another one tries.
  private let patience = Duration.seconds(10)

  package init(pause: Duration = .seconds(3)) { self.pause = pause }

  /// What `ask` says; while there is no answer, `known`.
  ///
  /// - Throws: what `ask` throws that is an answer: a refusal.
  package func answer<T: Sendable>(
    orElse known: @autoclosure () -> T, _ ask: @escaping @Sendable () async throws -> T
  ) async throws -> T {
    switch turn() {
    case .ask: return try await asked(ask) ?? known()
    case .askBeside:
      // `try?`: a refusal is for those who ask.
      Task.detached { [self] in _ = try? await asked(ask) }
      return known()
    case .goOn: return known()
    }
  }

  /// nil when there is no answer.
  private func asked<T>(_ ask: () async throws -> T) async throws -> T? {
    do {
      let answer = try await ask()
      until.withLock { $0 = nil }
      return answer
    } catch let failure as Failure {
      until.withLock { $0 = failure.isOurs ? ContinuousClock.now + pause : nil }
      guard failure.isOurs else { throw failure }
      return nil
    }
  }

  private func turn() -> Turn {
    until.withLock { until in
      guard let end = until else { return .ask }
      let now = ContinuousClock.now
      guard end <= now else { return .goOn }
      until = now + patience
      return .askBeside
    }
  }
}
