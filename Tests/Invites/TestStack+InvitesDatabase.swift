import Database
import Foundation
import Support
import Web
import Wire

@testable import Invites

/// Access to the database of the invites service, for the steps of a process that died between them.
extension TestStack {
  /// Claims a use as a request does whose process crashes right afterwards.
  func claim(_ id: InviteID, _ user: UserID) async throws -> JoinClaim {
    let now = clock.now
    let attempt = try await withInvites { database in
      try await database.write { db in try JoinClaimStore.claim(id, for: user, addressMatches: true, at: now, on: db) }
    }
    guard case .acquired(let claim) = attempt else { throw Unexpected(reply: "\(attempt)") }
    return claim
  }

  /// Joins the target, as a process that crashes before it records the outcome.
  func join(_ claim: JoinClaim) async throws -> JoinResult {
    try await JoinTargetClient(in: dependencies(of: "invites")).join(claim.user, by: claim.invite, claim.id)
  }

  func withInvites<T>(_ body: (any Database) async throws -> T) async throws -> T {
    let database = try await testDatabase.open("invites", [])
    do {
      let result = try await body(database)
      await database.close()
      return result
    } catch {
      await database.close()
      throw error
    }
  }

  /// The invite to a list with this integer id.
  func invite(numbered number: Int) async throws -> InviteID {
    try await withInvites { database in
      try await database.read { db in
        let row = try db.row("select invite_id from list_invite_number where number = \(number)")
        guard let row else { throw Unexpected(reply: "no invite has the number \(number)") }
        return try row.get("invite_id")
      }
    }
  }
}
