import Clients
import Foundation
import Logging
import Web
import Wire

/// Reads balances and opens the account of a user on first use, by whichever route. The signup credits are for users
/// who have verified an e-mail address or phone number: others get them on the first access after they have done so.
struct CreditAccounts: Sendable {
  let store: LedgerStore
  let users: UsersClient
  let logger: Logger
  let now: @Sendable () -> Date
  private let breaker = CircuitBreaker()

  init(store: LedgerStore, users: UsersClient, logger: Logger, now: @escaping @Sendable () -> Date) {
    self.store = store
    self.users = users
    self.logger = logger
    self.now = now
  }

  /// The balance of a signed-in user, who exists.
  func balance(ofSignedIn user: UserID) async throws -> Balance {
    if let account = try await store.account(of: user) {
      return try await balance(of: account, grantingSignupBonusTo: user)
    }
    return try await store.open(user, grantsSignupBonus: await isProven(user), at: now())
  }

  /// The balance of a user named by another service, whose existence is checked first.
  ///
  /// - Throws: 404 when auth has no such user either; 503 when auth cannot be reached.
  func balance(ofUnchecked user: UserID) async throws -> Balance {
    if let account = try await store.account(of: user) {
      return try await balance(of: account, grantingSignupBonusTo: user)
    }
    guard let profile = try await users.profile(of: user) else { throw Failure.userNotFound }
    return try await store.open(user, grantsSignupBonus: profile.isProven, at: now())
  }

  private func balance(
    of account: LedgerStore.Account, grantingSignupBonusTo user: UserID
  ) async throws -> Balance {
    guard !account.isSignupBonusSettled, await isProven(user) else { return account.balance }
    return try await store.open(user, grantsSignupBonus: true, at: now())
  }

  /// Whether the user has verified an e-mail address or phone number. False while auth does not answer: the bonus is
  /// then granted on a later access. After a failure the circuit breaker spares other requests the wait.
  private func isProven(_ user: UserID) async -> Bool {
    guard store.signupCredits > 0 else { return true }
    do {
      return try await breaker.call(fallback: false) { [users, logger] in
        do { return try await users.profile(of: user)?.isProven ?? false } catch {
          logger.warning("welcome credits have to wait for auth", metadata: ["error": "\(error)"])
          throw error
        }
      }
    } catch {
      return false
    }
  }
}
