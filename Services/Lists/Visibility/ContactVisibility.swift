import Clients
import Database
import Foundation
import Wire

/// Decides which users a caller can find by an identifier. A number or a UUID finds only users with whom the caller
/// shares a list, a group or a collection; an e-mail address finds the user who has verified it; a block hides users
/// from each other. A hidden user is treated exactly like a missing one, with the same calls to other services.
struct ContactVisibility: Sendable {
  let database: any Database
  let users: UsersClient
  let groups: GroupsClient
  let now: @Sendable () -> Date

  /// The user with this identifier, or nil when there is none or `user` may not see them.
  ///
  /// - Parameter isAlsoVisible: whether a user found by number or UUID is visible although they share nothing.
  /// - Throws: 503 when the result depends on a service that does not answer.
  func person(
    _ identifier: PersonIdentifier, visibleTo user: UserID,
    isAlsoVisible: @Sendable (UserID) async throws -> Bool = { _ in false }
  ) async throws -> Person? {
    let person = try await lookUp(identifier)
    // A missing user gets a random ID, so that neither the calls nor their timing reveal that there is none.
    let other = person?.id ?? UserID.new(at: now())
    if other == user { return person }
    let relations = try await relations(of: user, to: other)
    let isAlsoVisible = try await isAlsoVisible(other)
    guard !relations.blocked.contains(other) else { return nil }
    if case .email = identifier { return person }
    return relations.shared.contains(other) || isAlsoVisible ? person : nil
  }

  /// Whether there is a block between two users of a list. While groups does not answer, the result is false.
  func isBlocked(_ user: UserID, from other: UserID) async throws -> Bool {
    do { return try await groups.relations(of: user, to: [other]).blocked.contains(other) } catch is Failure {
      return false
    }
  }

  private func lookUp(_ identifier: PersonIdentifier) async throws -> Person? {
    switch identifier {
    case .email(let text), .id(let text): try await users.person(named: text)
    case .unsupported: nil
    }
  }

  /// Relations from groups and from this service. While groups does not answer, sharing a list is sufficient; for users
  /// who share no list this throws 503.
  private func relations(of user: UserID, to other: UserID) async throws -> Relations {
    let shared = try await database.readOnce { db in try SharedLists.people(with: user, among: [other], on: db) }
    do { return try await groups.relations(of: user, to: [other]).merging(Relations(shared: shared)) } catch let failure
      as Failure
    {
      guard !shared.isEmpty, failure.isServerFault || failure.kind == .notFound else { throw Failure.unavailable }
      return Relations(shared: shared)
    }
  }
}
