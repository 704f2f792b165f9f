import Foundation
import Logging
import Outbox
import Synchronization

/// Sends notifications to APNs, and does what its answers ask for.
struct PushSender: Sendable {
  let client: APNsClient
  let devices: DeviceStore
  let metrics: PushMetrics
  let logger: Logger
  let now: @Sendable () -> Date
  private let pauses = Pauses()

  /// While every request would be refused.
  private static let misconfiguredSeconds = 300.0
  private static let tooManyRequestsWait = Duration.seconds(60)

  init(
    client: APNsClient, devices: DeviceStore, metrics: PushMetrics, logger: Logger, now: @escaping @Sendable () -> Date
  ) {
    self.client = client
    self.devices = devices
    self.metrics = metrics
    self.logger = logger
    self.now = now
  }

  /// Sends a notification until APNs has accepted it, or has said that the device is gone.
  ///
  /// - Parameter environment: nil when it is not known: production is tried first.
  /// - Returns: whether it was accepted.
  /// - Throws: ``Undeliverable``, ``TryLater``, or another error for a retry with the same id.
  func send(_ notification: APNsNotification, to environment: APNsEnvironment?, tries: Int) async throws -> Bool {
    var tried = environment ?? .production
    var response = try await attempt(notification, to: tried)
    if environment == nil, case .refused(let refusal) = response, refusal.reason == "BadDeviceToken" {
      tried = .sandbox
      response = try await attempt(notification, to: tried)
      if response == .accepted { try await devices.set(tried, ofToken: notification.deviceToken) }
    }
    guard case .refused(let refusal) = response else { return true }
    guard !APNsReasons.tokenGone.contains(refusal.reason), refusal.status != 410 else {
      // Unless the app has registered it again since then.
      try await devices.delete(token: notification.deviceToken, invalidSince: refusal.timestamp)
      return false
    }
    throw failure(refusal, in: tried, tries: tries)
  }

  private func attempt(_ notification: APNsNotification, to environment: APNsEnvironment) async throws -> APNsResponse {
    if let wait = pauses.left(of: environment, at: now()) { throw TryLater(after: wait) }
    do {
      let response = try await client.send(notification, to: environment)
      metrics.answered(response)
      return response
    } catch {
      // A connection whose peer is gone fails only by the timeout.
      if !Task.isCancelled, pauses.mayReplaceConnections(at: now()) { client.replaceConnections() }
      throw error
    }
  }

  private func failure(_ refusal: APNsRefusal, in environment: APNsEnvironment, tries: Int) -> any Error {
    let asked = refusal.retryAfterSeconds.map { Duration.seconds($0) }
    switch (refusal.status, refusal.reason) {
    case (_, let reason) where APNsReasons.connectionEnded.contains(reason):
      if pauses.mayReplaceConnections(at: now()) { client.replaceConnections() }
      let isQuick = tries == 1 || refusal.status < 500
      return TryLater(after: asked ?? (isQuick ? .zero : Self.serverErrorWait(after: tries - 1)))
    case (403, "ExpiredProviderToken"), (429, "TooManyProviderTokenUpdates"):
      // `try?`: a token that cannot be signed is reported by the next request.
      let wait = (try? client.tokenLifetimeMinLeft()) ?? .seconds(60)
      return pause(environment, for: wait, because: refusal)
    case (403, _):
      return pause(environment, for: .seconds(Self.misconfiguredSeconds), because: refusal)
    case (429, _): return TryLater(after: asked ?? Self.tooManyRequestsWait)
    case (500..., _): return TryLater(after: asked ?? Self.serverErrorWait(after: tries))
    default: return Undeliverable("APNs: \(refusal.status) \(refusal.reason)")
    }
  }

  /// APNs asks to wait for fifteen minutes after its errors, and for longer each time.
  private static func serverErrorWait(after tries: Int) -> Duration {
    .seconds(900 << min(3, max(0, tries - 1)))
  }

  private func pause(
    _ environment: APNsEnvironment, for wait: Duration, because refusal: APNsRefusal
  ) -> TryLater {
    logger.error(
      "APNs refuses all notifications: check APNS_*",
      metadata: [
        "environment": "\(environment.rawValue)", "status": "\(refusal.status)", "reason": "\(refusal.reason)",
      ])
    pauses.begin(environment, until: now() + Double(wait.components.seconds))
    return TryLater(after: wait)
  }
}

/// Until when nothing is sent to an environment, and when connections were replaced.
private final class Pauses: Sendable {
  private struct State {
    var ends: [APNsEnvironment: Date] = [:]
    var replacedAt: Date?
  }

  private let state = Mutex(State())
  private static let secondsBetweenReplacements = 5.0

  func begin(_ environment: APNsEnvironment, until end: Date) { state.withLock { $0.ends[environment] = end } }

  func left(of environment: APNsEnvironment, at now: Date) -> Duration? {
    guard let end = state.withLock({ $0.ends[environment] }), end > now else { return nil }
    return .seconds(end.timeIntervalSince(now))
  }

  /// Not for each of the requests that fail together.
  func mayReplaceConnections(at now: Date) -> Bool {
    state.withLock { state in
      if let last = state.replacedAt, now.timeIntervalSince(last) < Self.secondsBetweenReplacements { return false }
      state.replacedAt = now
      return true
    }
  }
}
