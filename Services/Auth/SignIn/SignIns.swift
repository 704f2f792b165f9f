import Measures
import Wire

/// Counts how people sign in, and how it ends.
struct SignIns: Sendable {
  enum Way: String {
    case apple, developer, refresh, password, phone, mail, anonymous
    /// By a bearer of an outside issuer: when its user is seen for the first time.
    case outside
    case signUp = "sign_up"
  }

  enum Outcome: String {
    case done, refused
    /// Trouble of our own, or a key server's.
    case failed
    /// A refresh token used for the second time.
    case reused
  }

  private let counter: Counter

  init(in registry: Registry) {
    counter = registry.counter("kith_sign_ins_total", "Sign-ins by way and outcome.", labels: ["way", "outcome"])
  }

  func count(_ way: Way, _ outcome: Outcome) { counter.add(way.rawValue, outcome.rawValue) }

  /// Runs one way of signing in and counts how it ends.
  func counted<T>(_ way: Way, _ work: () async throws -> T) async throws -> T {
    let result = try await countingFailures(of: way, work)
    count(way, .done)
    return result
  }

  /// Runs what is a sign-in only sometimes, and counts when it fails.
  func countingFailures<T>(of way: Way, _ work: () async throws -> T) async throws -> T {
    do { return try await work() } catch {
      count(way, (error as? Failure)?.isOurs == false ? .refused : .failed)
      throw error
    }
  }
}
