import Foundation
import Measures
import Web
import Wire

/// Hashes passwords and compares them, on a few threads of their own: each takes 46 MiB and a tenth of a second of a core.
struct Passwords: Sendable {
  private let argon2: Argon2
  private let forbidden: ForbiddenPasswords?
  private let threads: WorkerThreads
  private let hashes: Counter

  /// - Throws: ``StartFailure`` for a list of forbidden passwords that cannot be read.
  init(_ settings: Settings, in registry: Registry) throws {
    let cores = min(4, max(1, ProcessInfo.processInfo.activeProcessorCount))
    self.init(
      forbidden: try settings.nonempty("PASSWORDS_FORBIDDEN").map { try ForbiddenPasswords(file: $0) },
      // Who would wait for longer than two seconds is better told so at once.
      threads: cores, waitingMax: cores * 16, in: registry)
  }

  init(
    _ argon2: Argon2 = .recommended, forbidden: ForbiddenPasswords? = nil, threads: Int, waitingMax: Int,
    in registry: Registry
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

  /// What to keep of a password that somebody has chosen: a PHC string.
  ///
  /// - Throws: the validation failure that names `field`; 503 when too many are waiting; `CancellationError`.
  func hash(_ chosen: String, field: String = "password") async throws -> String {
    let password = try Password(chosen: chosen, field: field, forbidden: forbidden)
    return try await counted { [argon2] in try argon2.hash(password.bytes) }
  }

  /// Whether what somebody typed is the password of which `hash` was kept. Without a hash, and for what can be nobody's
  /// password, it is the same work for nothing, so that the time tells nobody who has an account.
  ///
  /// - Throws: 503 when too many are waiting; `CancellationError`.
  func matches(_ typed: String, _ hash: String?) async throws -> Bool {
    guard let password = Password(typed: typed), let hash else {
      try await burn()
      return false
    }
    return try await counted { try Argon2.matches(password.bytes, hash) }
  }

  /// The work of ``matches(_:_:)`` where there is nothing to compare.
  func burn() async throws {
    let nobodys = SecretBytes(Array(repeating: UInt8(ascii: "x"), count: 16))
    _ = try await counted { [argon2] in try Argon2.matches(nobodys, argon2.unmatchable) }
  }

  /// Whether the hash of a password that has just matched should be made anew.
  func needsRehash(_ hash: String) -> Bool { !argon2.made(hash) }

  private func counted<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
    do {
      let result = try await threads.run(work)
      hashes.add("done")
      return result
    } catch is WorkerThreads.Full {
      hashes.add("refused")
      throw Failure.passwordsBusy
    } catch let trouble as Argon2.Trouble where trouble.isMemory {
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
