import Prometheus
import Wire

/// Counts sign-ins by flow and outcome.
struct SignInCounter: Sendable {
  enum Flow: String {
    case apple, developer, refresh, password, phone, mail, anonymous
    /// A bearer token of an external issuer, when its user is new.
    case externalIssuer = "outside"
    case signUp = "sign_up"
  }

  enum Outcome: String {
    case done, refused
    /// An error of this server, or of a key server.
    case failed
    /// A refresh token was used twice.
    case reused
  }

  private let counter: Counter

  init(in registry: MetricsRegistry) {
    counter = registry.counter("kith_sign_ins_total", "Sign-ins by way and outcome.", labels: ["way", "outcome"])
  }

  func count(_ flow: Flow, _ outcome: Outcome) { counter.add(flow.rawValue, outcome.rawValue) }

  /// Runs a sign-in and counts its outcome.
  func counted<T>(_ flow: Flow, _ work: () async throws -> T) async throws -> T {
    let result = try await countingFailures(of: flow, work)
    count(flow, .done)
    return result
  }

  /// Runs an operation that is not always a sign-in, and counts its failures.
  func countingFailures<T>(of flow: Flow, _ work: () async throws -> T) async throws -> T {
    do { return try await work() } catch {
      count(flow, (error as? Failure)?.isServerFault == false ? .refused : .failed)
      throw error
    }
  }
}
