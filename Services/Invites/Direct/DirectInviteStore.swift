import Database
import Foundation
import Wire

/// SQL on direct invites: invites to lists for one user, or for the user who verifies an e-mail address.
struct DirectInviteStore: Sendable {
  let invites: InviteStore

  /// The most direct invites that are listed to one user.
  static let listedMax = 50

  /// Creates an invite, and revokes the one that the same inviter had open for the same invitee and list.
  ///
  /// - Throws: 429.
  func create(_ request: InviteToList, at now: Date) async throws -> CodeLink {
    // A concurrent call for the same invitee may commit first; the next attempt replaces its invite.
    for _ in 0..<8 {
      do {
        return try await invites.database.write { db in try create(request, at: now, on: db) }
      } catch DatabaseFailure.unique("invite_waiting") {}
    }
    throw DatabaseFailure.contended
  }

  private func create(_ request: InviteToList, at now: Date, on db: any Connection) throws -> CodeLink {
    try InviteRateQuota.direct.enforce(1, by: request.invitedBy, at: now, on: db)
    let hashes = hashes(of: request.invitee)
    try db.change(
      """
      update invite set state = 'revoked', ended_at = \(now)
      where kind = 'list' and destination_id = \(String(request.list)) and state = 'pending'
        and inviter_id = \(request.invitedBy) and invitee_hash in (\(list: hashes))
      """)
    var new = NewInvite(
      target: .list(request.list), role: request.role, inviter: request.invitedBy, inviteeHash: hashes[0],
      storesSealedToken: true, usesMax: 1, expiresAt: now + Self.lifetimeSeconds)
    switch request.invitee {
    case .user(let user): new.invitee = user
    case .email(let email): new.email = email
    }
    let (invite, code) = try invites.add(new, token: InviteToken.linkCode, at: now, on: db)
    return CodeLink(invite: invite, code: code)
  }

  /// Longer than for links: the invitee sees it only in the app, which they may not have installed yet.
  private static let lifetimeSeconds = 30.0 * 86_400

  /// The open invites to the user, the newest first.
  func open(for user: UserID, at now: Date) async throws -> [CodeLink] {
    try await open(for: InviteeHash.of(user, under: invites.keys), at: now)
  }

  /// The open invites to an e-mail address, the newest first. The caller checks that the user has verified it.
  func open(forEmail email: String, at now: Date) async throws -> [CodeLink] {
    try await open(for: InviteeHash.of(email, under: invites.keys), at: now)
  }

  private func open(for hashes: [[UInt8]], at now: Date) async throws -> [CodeLink] {
    try await invites.database.read { [invites] db in
      try db.rows(
        """
        \(selectInvite(with: .token)) where invitee_hash in (\(list: hashes)) and kind = 'list' and state = 'pending'
          and expires_at > \(now)
        order by created_at desc, id desc limit \(Self.listedMax)
        """
      ).compactMap { row in
        try invites.open(.token, in: row).flatMap { InviteToken(code: $0) }
          .map { CodeLink(invite: try Invite(row), code: $0) }
      }
    }
  }

  private func hashes(of invitee: InviteToList.Invitee) -> [[UInt8]] {
    switch invitee {
    case .user(let user): InviteeHash.of(user, under: invites.keys)
    case .email(let email): InviteeHash.of(email, under: invites.keys)
    }
  }
}
