import Foundation

/// A stream of server-sent events whose request is repeated, with the same key, until its last event has come.
struct RepeatedStream: Sendable {
  /// A comment comes every 15 seconds. Before the first one, credits are held.
  private static let silenceSeconds = 60.0
  let api: API

  /// - Parameters:
  ///   - call: the request, by the number of the last event that was read; 0 before the first.
  ///   - take: returns whether an event was the last one. It gets each number once, and each event without a number.
  /// - Throws: ``KithFailure``, `CancellationError`, and what `take` throws.
  func read(
    _ call: @Sendable (_ lastNumber: Int) throws -> Call,
    _ take: (ServerSentEventParser.Event) async throws -> Bool
  ) async throws {
    var (last, failures) = (0, 0)
    while true {
      var wait: Double?
      var failure = KithFailure.unreachable("the stream has ended early")
      do {
        for try await event in try await api.stream(Self.streaming(try call(last))).events.all
        where !event.data.isEmpty {
          if let number = Int(event.id) {
            guard number > last else { continue }
            last = number
          }
          failures = 0
          if try await take(event) { return }
        }
      } catch let reason as NoAnswer {
        failure = .unreachable(reason.reason)
      } catch let reason as KithFailure where Self.isTemporary(reason) {
        failure = reason
        if case .refused(let refusal) = reason { wait = refusal.retryAfterSeconds }
      }
      try Task.checkCancellation()
      failures += 1
      let policy = api.exchanger.policy
      let pause = wait.map { .seconds($0) } ?? policy.backoff(failures)
      guard failures < policy.attemptsMax, pause <= policy.waitMax else { throw failure }
      try await policy.sleep(pause)
    }
  }

  private static func streaming(_ call: Call) -> Call {
    call.with {
      $0.headers["Accept"] = "text/event-stream"
      $0.timeoutSeconds = silenceSeconds
    }
  }

  /// While the first request with a key still runs, a repetition has to wait for it.
  private static func isTemporary(_ failure: KithFailure) -> Bool {
    switch failure {
    case .unreachable: true
    case .refused(let refusal):
      [429, 502, 503, 504].contains(refusal.status) || refusal.code == .known(.idempotencyKeyInUse)
    default: false
    }
  }
}
