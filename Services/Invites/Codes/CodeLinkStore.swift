import ClientBodies
import Database
import Foundation
import Wire

/// SQL on links with codes that people can also read aloud: to groups and lists, for a limited or unlimited number of
/// uses.
struct CodeLinkStore: Sendable {
  let invites: InviteStore
  let appLinks: AppLinks

  /// Creates a link.
  ///
  /// - Throws: 429 when the user has created too many links.
  func create(
    to target: JoinTarget, _ options: LinkOptions, by user: UserID, at now: Date, on db: any Connection
  ) throws -> CodeLink {
    try InviteRateQuota.links.enforce(1, by: user, at: now, on: db)
    let new = NewInvite(
      target: target, role: options.role, inviter: user, storesSealedToken: true, usesMax: options.usesMax,
      expiresAt: options.expiresAt)
    let (invite, code) = try invites.add(new, token: InviteToken.linkCode, at: now, on: db)
    return CodeLink(invite: invite, code: code)
  }

  /// The newest 100 links that were not revoked.
  func links(to target: JoinTarget) async throws -> [CodeLink] {
    try await invites.database.read { [invites] db in
      try db.rows(
        """
        \(selectInvite(with: .token)) where kind = \(target.kind.rawValue) and destination_id = \(target.id)
          and way = 'link' and state <> 'revoked'
        order by created_at desc, id desc limit 100
        """
      ).compactMap { row in
        try invites.open(.token, in: row).flatMap { InviteToken(code: $0) }
          .map { CodeLink(invite: try Invite(row), code: $0) }
      }
    }
  }

  /// Revokes every pending link to the target.
  func revokeAll(to target: JoinTarget, at now: Date) async throws {
    try await invites.database.write { db in
      try db.change(
        """
        update invite set state = 'revoked', ended_at = \(now)
        where kind = \(target.kind.rawValue) and destination_id = \(target.id) and way = 'link'
          and state = 'pending'
        """)
    }
  }

  func body<ID>(_ link: CodeLink, id: ID, at now: Date) -> ClientBodies.CodeLink<ID> {
    ClientBodies.CodeLink(link, id: id, appLinks, at: now)
  }
}

/// An invite with its code, which can be shown again to those who may create links.
struct CodeLink: Sendable {
  let invite: Invite
  let code: InviteToken
}
