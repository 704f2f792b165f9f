import Foundation
import Prometheus
import Web
import Wire

/// Hashes and compares passwords on a few dedicated threads: each operation takes 46 MiB and a tenth of a second of a
/// core.
struct PasswordHasher: Sendable {
  private let argon2: Argon2
  private let forbidden: ForbiddenPasswords?
  private let threads: WorkerThreads
  private let hashes: Counter

  /// - Throws: ``StartFailure`` for a list of forbidden passwords that cannot be read.
  init(_ settings: Settings, in registry: MetricsRegistry) throws {
    let cores = min(4, AvailableCores.count)
    self.init(
      forbidden: try settings.nonempty("PASSWORDS_FORBIDDEN").map { try ForbiddenPasswords(file: $0) },
      // A request that would wait for longer than two seconds is rejected at once.
      threads: cores, waitingMax: cores * 16, in: registry)
  }

  init(
    _ argon2: Argon2 = .recommended, forbidden: ForbiddenPasswords? = nil, threads: Int, waitingMax: Int,
    in registry: MetricsRegistry
  ) {
    self.argon2 = argon2
    self.forbidden = forbidden
    let workers = WorkerThreads("passwords", threads: threads, waitingMax: waitingMax)
    self.threads = workers
    hashes = registry.counter(
      "kith_password_hashes_total", "Password hashes made or compared, and those there was no room for.",
      labels: ["outcome"])
    registry.gauge("kith_password_hashes_waiting", "Password hashes that wait for a thread.") {
      [([], Double(workers.waiting))]
    }
  }

  /// The hash to store of a new password: a PHC string.
  ///
  /// - Throws: the validation failure that names `field`; 503 when too many are waiting; `CancellationError`.
  func hash(_ chosen: String, field: String = "password") async throws -> String {
    let password = try Password(chosen: chosen, field: field, forbidden: forbidden)
    return try await counted { [argon2] in try argon2.hash(password.bytes) }
  }

  /// Whether `typed` is the password that `hash` was made from. Without a hash, and for text that cannot be a password,
  /// the same work is done with a dummy hash, so that the response time does not show whether an account exists.
  ///
  /// - Throws: 503 when too many are waiting; `CancellationError`.
  func matches(_ typed: String, _ hash: String?) async throws -> Bool {
    guard let password = Password(typed: typed), let hash else {
      try await compareDummy()
      return false
    }
    return try await counted { try Argon2.matches(password.bytes, hash) }
  }

  /// Does the work of ``matches(_:_:)`` where there is nothing to compare.
  func compareDummy() async throws {
    let dummy = SecretBytes(Array(repeating: UInt8(ascii: "x"), count: 16))
    _ = try await counted { [argon2] in try Argon2.matches(dummy, argon2.dummyHash) }
  }

  /// Whether the hash was made with other parameters and should be replaced.
  func needsRehash(_ hash: String) -> Bool { !argon2.isCurrent(hash) }

  private func counted<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
    do {
      let result = try await threads.run(work)
      hashes.add("done")
      return result
    } catch is WorkerThreads.QueueFull {
      hashes.add("refused")
      throw Failure.passwordsBusy
    } catch let error as Argon2.LibraryError where error.isOutOfMemory {
      hashes.add("refused")
      throw Failure.passwordsBusy
    }
  }
}

extension Failure {
  static let passwordsBusy = Failure(
    .unavailable, "too_busy", "Too many people are signing in at the moment. Try again in a few seconds.",
    retryAfterSeconds: 2)
}
