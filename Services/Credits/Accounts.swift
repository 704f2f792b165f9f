import Clients
import Foundation
import Logging
import Web
import Wire

/// The ledger with its accounts opened on first sight, whoever asks first. The welcome credits are for those who have
/// proven who they are: to others they come with the first look after they have done so.
struct Accounts: Sendable {
  let store: LedgerStore
  let users: UsersClient
  let logger: Logger
  let now: @Sendable () -> Date
  private let silence = Silence()

  init(store: LedgerStore, users: UsersClient, logger: Logger, now: @escaping @Sendable () -> Date) {
    self.store = store
    self.users = users
    self.logger = logger
    self.now = now
  }

  /// The balance of a user who has signed in, so exists.
  func balance(ofSignedIn user: UserID) async throws -> Balance {
    if let account = try await store.account(of: user) { return try await welcomed(account, of: user) }
    return try await store.open(user, welcomed: await isProven(user), at: now())
  }

  /// The balance of a user whom another process names.
  ///
  /// - Throws: 404 when auth does not know the user either; 503 when auth cannot be asked.
  func balance(ofNamed user: UserID) async throws -> Balance {
    if let account = try await store.account(of: user) { return try await welcomed(account, of: user) }
    guard let profile = try await users.profile(of: user) else { throw Failure.userNotFound }
    return try await store.open(user, welcomed: profile.isProven, at: now())
  }

  private func welcomed(_ account: LedgerStore.Account, of user: UserID) async throws -> Balance {
    guard !account.isWelcomed, await isProven(user) else { return account.balance }
    return try await store.open(user, welcomed: true, at: now())
  }

  /// While auth does not answer nobody is welcomed, nobody waits for it, and everybody has what they had.
  private func isProven(_ user: UserID) async -> Bool {
    guard store.signupCredits > 0 else { return true }
    do {
      return try await silence.answer(orElse: false) { [users, logger] in
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
