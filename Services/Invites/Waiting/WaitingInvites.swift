import Database
import Foundation
import Wire

/// Invites to lists that wait for one person: a user, or whoever proves an e-mail address.
struct WaitingInvites: Sendable {
  let invites: InviteStore

  /// What one user sees of those that wait for them, at most.
  static let shownMax = 50

  /// A new invite in the place of the one that the same inviter had open for the same person and list.
  ///
  /// - Throws: 429.
  func make(_ asked: InviteToList, at now: Date) async throws -> CodeLinks.Made {
    // Whoever makes one for the same person at the same moment is first: then it is theirs that is replaced.
    for _ in 0..<8 {
      do {
        return try await invites.database.write { db in try make(asked, at: now, on: db) }
      } catch DatabaseFailure.unique("invite_waiting") {}
    }
    throw DatabaseFailure.contended
  }

  private func make(_ asked: InviteToList, at now: Date, on db: any Connection) throws -> CodeLinks.Made {
    try Pacing.waiting.admit(1, by: asked.invitedBy, at: now, on: db)
    let hashes = hashes(of: asked.invitee)
    try db.change(
      """
      update invite set state = 'revoked', ended_at = \(now)
      where kind = 'list' and destination_id = \(String(asked.list)) and state = 'pending'
        and inviter_id = \(asked.invitedBy) and invitee_hash in (\(list: hashes))
      """)
    var new = NewInvite(
      destination: .list(asked.list), role: asked.role, inviter: asked.invitedBy, inviteeHash: hashes[0],
      keepsSecret: true, usesMax: 1, expiresAt: now + Self.lifetimeSeconds)
    switch asked.invitee {
    case .user(let user): new.invitee = user
    case .email(let email): new.email = email
    }
    let (invite, code) = try invites.add(new, secret: Secret.linkCode, at: now, on: db)
    return CodeLinks.Made(invite: invite, code: code)
  }

  /// Nobody is told of it but by the app, which they may not have yet.
  private static let lifetimeSeconds = 30.0 * 86_400

  /// Those that are open for the user, the newest first.
  func open(for user: UserID, at now: Date) async throws -> [CodeLinks.Made] {
    try await open(for: InviteeHash.of(user, under: invites.keys), at: now)
  }

  /// Those that are open for whoever proves an address.
  func open(forReaderOf email: String, at now: Date) async throws -> [CodeLinks.Made] {
    try await open(for: InviteeHash.of(email, under: invites.keys), at: now)
  }

  private func open(for hashes: [[UInt8]], at now: Date) async throws -> [CodeLinks.Made] {
    try await invites.database.read { [invites] db in
      try db.rows(
        """
        \(selectInvite(with: .secret)) where invitee_hash in (\(list: hashes)) and kind = 'list' and state = 'pending'
          and expires_at > \(now)
        order by created_at desc, id desc limit \(Self.shownMax)
        """
      ).compactMap { row in
        try invites.open(.secret, in: row).flatMap { Secret(code: $0) }
          .map { CodeLinks.Made(invite: try Invite(row), code: $0) }
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
