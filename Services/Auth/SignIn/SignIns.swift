import Measures
import Wire

/// Counts how people sign in, and how it ends.
struct SignIns: Sendable {
  enum Way: String {
    case apple, developer, refresh, password, phone, mail, anonymous
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
    do {
      let result = try await work()
      count(way, .done)
      return result
    } catch {
      count(way, (error as? Failure)?.isOurs == false ? .refused : .failed)
      throw error
    }
  }
}
