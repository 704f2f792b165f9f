import Clients
import Database
import Foundation
import Wire

/// Finds the invite to a list in a request's path: by its code, or by its integer id when it is a direct invite to the
/// user.
struct ListInviteLookup: Sendable {
  let invites: InviteStore
  let attemptLimiter: CodeAttemptLimiter
  let users: UsersClient

  /// An invite, and whether it is for no e-mail address, or for the user's.
  struct Match: Sendable {
    let invite: Invite
    let addressMatches: Bool
  }

  /// nil for an unknown code, and for the id of an invite that is not a direct invite to the user.
  ///
  /// - Throws: 429 after too many failed attempts.
  func match(_ name: String, for requester: Requester, at now: Date) async throws -> Match? {
    guard let candidate = try await candidate(name, for: requester, at: now) else { return nil }
    let addressMatches = try await invites.addressMatches(candidate.invite, requester.user, in: users)
    let match = Match(invite: candidate.invite, addressMatches: addressMatches)
    guard candidate.isByNumber else { return match }
    return match.isAddressed(to: requester.user) ? match : nil
  }

  /// An invite, and whether it was found by its integer id.
  private struct Candidate: Sendable {
    let invite: Invite
    let isByNumber: Bool
  }

  /// Ids are not secret, so lookups by id are not limited, unless the digits could also be a code.
  private func candidate(_ name: String, for requester: Requester, at now: Date) async throws -> Candidate? {
    let (code, number) = (InviteToken(code: name), Int(name))
    guard code != nil || number != nil else {
      return try await attemptLimiter.limited(by: requester, at: now) { _ in nil }
    }
    @Sendable func findByNumber(_ db: any Connection) throws -> Candidate? {
      try number.flatMap { try InviteStore.find(number: $0, on: db) }.map { Candidate(invite: $0, isByNumber: true) }
    }
    guard number == nil || name.utf8.count == InviteToken.linkCodeLength else {
      return try await invites.database.read { try findByNumber($0) }
    }
    return try await attemptLimiter.limited(by: requester, at: now) { db in
      try invites.findListInvite(code, on: db).map { Candidate(invite: $0, isByNumber: false) } ?? findByNumber(db)
    }
  }
}

extension ListInviteLookup.Match {
  /// Whether this is a direct invite to the user, rather than an invite for everybody who has its code.
  func isAddressed(to user: UserID) -> Bool {
    invite.hasInviteeEmail ? addressMatches : invite.invitee == user
  }
}

extension InviteStore {
  /// The invite to a list with this code; nil when there is none.
  func findListInvite(_ code: InviteToken?, on db: any Connection) throws -> Invite? {
    guard let code, let invite = try Self.find(code, keys, on: db), invite.target.kind == .list else { return nil }
    return invite
  }
}
