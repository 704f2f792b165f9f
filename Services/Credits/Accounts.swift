import Clients
import Foundation
import Wire

/// The ledger with its accounts opened on first sight, whoever asks first.
struct Accounts: Sendable {
  let store: LedgerStore
  let users: UsersClient
  let now: @Sendable () -> Date

  /// The balance of a user who has signed in, so exists.
  func balance(ofSignedIn user: UserID) async throws -> Balance {
    if let balance = try await store.balance(of: user) { return balance }
    return try await store.open(user, at: now())
  }

  /// The balance of a user whom another process names.
  ///
  /// - Throws: 404 when auth does not know the user either; 503 when auth cannot be asked.
  func balance(ofNamed user: UserID) async throws -> Balance {
    if let balance = try await store.balance(of: user) { return balance }
    guard try await users.profile(of: user) != nil else { throw Failure.userNotFound }
    return try await store.open(user, at: now())
  }
}
