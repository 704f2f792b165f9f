import Database
import Foundation
import Support
import Web
import Wire

@testable import Invites

/// What a process has done that is dead by now.
extension TestStack {
  /// Claims a place as a request does, whose process dies right afterwards.
  func claim(_ id: InviteID, _ user: UserID) async throws -> Claim {
    let now = clock.now
    let attempt = try await withInvites { database in
      try await database.write { db in try ClaimStore.claim(id, for: user, isAddressed: true, at: now, on: db) }
    }
    guard case .mine(let claim) = attempt else { throw Unexpected(reply: "\(attempt)") }
    return claim
  }

  /// Takes the step after it, too, and dies before it is noted what became of it.
  func join(_ claim: Claim) async throws -> Arrival {
    try await Destinations(in: surroundings(of: "invites")).join(claim.user, by: claim.invite, claim.id)
  }

  func withInvites<T>(_ body: (any Database) async throws -> T) async throws -> T {
    let database = try await place.open("invites", [])
    do {
      let result = try await body(database)
      await database.close()
      return result
    } catch {
      await database.close()
      throw error
    }
  }

  /// The invite to a list that its app knows by a number.
  func invite(numbered number: Int) async throws -> InviteID {
    try await withInvites { database in
      try await database.read { db in
        let row = try db.row("select invite_id from list_invite_number where number = \(number)")
        guard let row else { throw Unexpected(reply: "no invite has the number \(number)") }
        return try row.get("invite_id")
      }
    }
  }

  /// How many rows there are in the invites' table that `rows` begins with.
  func count(_ rows: SQL) async throws -> Int {
    try await withInvites { database in
      try await database.read { db in try db.row("select count(*) as found from \(rows)")?.get("found") ?? -1 }
    }
  }
}
