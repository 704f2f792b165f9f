import Foundation
import Support
import Testing
import Wire

@testable import Invites
@testable import Outbox

extension Calls {
  /// What the worker does for a join that was interrupted or refused.
  func inviteStoreCalls() async throws {
    let now = stack.clock.now
    // Open invites to collections.
    let invites = try [9, 18, 27].map { number in
      try #require(InviteID("\(Kind.invite)-0000-7000-8000-\(String(format: "%012d", number))"))
    }
    try await withDatabase(of: "invites") { database in
      try await database.write { db in
        func claim(_ invite: InviteID, for user: UserID) throws -> JoinClaim {
          let attempt = try JoinClaimStore.claim(invite, for: user, addressMatches: true, at: now, on: db)
          guard case .acquired(let claim) = attempt else { throw Unexpected(reply: "\(attempt)") }
          return claim
        }
        let user = UserID.new(at: now)
        try JoinClaimStore.releaseLease(of: claim(invites[0], for: user), at: now, on: db)
        _ = try claim(invites[0], for: user)
        try JoinClaimStore.revert(claim(invites[1], for: user), because: .targetNotFound, at: now, on: db)
        let joined = try claim(invites[2], for: user)
        try JoinClaimStore.markJoined(joined.id, on: db)
        try JoinClaimStore.delete(joined.id, on: db)
        // As when what is due waits for what another replica has leased.
        _ = try JoinClaimStore.leases.nextDue(after: now, on: db)
      }
    }
  }
}
