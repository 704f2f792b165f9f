import Database
import Foundation
import Wire

/// Links with codes that people can also read out: to groups and lists, for as many people as they say.
struct CodeLinks: Sendable {
  let invites: InviteStore
  let addresses: AppLinks

  func make(
    to destination: Destination, _ terms: LinkTerms, by user: UserID, at now: Date, on db: any Connection
  ) throws -> Made {
    try Pacing.links.admit(1, by: user, at: now, on: db)
    let new = NewInvite(
      destination: destination, role: terms.role, inviter: user, keepsSecret: true, usesMax: terms.usesMax,
      expiresAt: terms.expiresAt)
    let (invite, code) = try invites.add(new, secret: Secret.linkCode, at: now, on: db)
    return Made(invite: invite, code: code)
  }

  /// A link, and the code that can be shown again to those who may make links.
  struct Made: Sendable {
    let invite: Invite
    let code: Secret
  }

  /// The newest that were not taken back, at most 100.
  func links(to destination: Destination) async throws -> [Made] {
    try await invites.database.read { [invites] db in
      try db.rows(
        """
        \(selectInvite(with: .secret)) where kind = \(destination.kind.rawValue) and destination_id = \(destination.id)
          and way = 'link' and state <> 'revoked'
        order by created_at desc, id desc limit 100
        """
      ).compactMap { row in
        try invites.open(.secret, in: row).flatMap { Secret(code: $0) }.map { Made(invite: try Invite(row), code: $0) }
      }
    }
  }

  /// Takes back every link that is still good.
  func revokeAll(to destination: Destination, at now: Date) async throws {
    try await invites.database.write { db in
      try db.change(
        """
        update invite set state = 'revoked', ended_at = \(now)
        where kind = \(destination.kind.rawValue) and destination_id = \(destination.id) and way = 'link'
          and state = 'pending'
        """)
    }
  }

  func body(_ made: Made, at now: Date) -> CodeLinkBody { CodeLinkBody(made, addresses, at: now) }
}

/// A link as those see it who may make links. Links to lists have integers as ids.
struct CodeLinkBody: Encodable {
  enum ID: Encodable {
    case number(Int)
    case id(InviteID)

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      switch self {
      case .number(let number): try container.encode(number)
      case .id(let id): try container.encode(id)
      }
    }
  }

  let id: ID
  let code: String
  @OrNull var role: String?
  let invite_url: String
  let deep_link: String
  let expires_at: Date
  @OrNull var max_uses: Int?
  let uses_count: Int
  let usable: Bool
  let created_at: Date

  init(_ made: CodeLinks.Made, _ links: AppLinks, at now: Date) {
    let invite = made.invite
    id = invite.number.map { .number($0) } ?? .id(invite.id)
    code = made.code.text
    _role = OrNull(wrappedValue: invite.role)
    invite_url = links.page(ofCode: made.code)
    deep_link = links.deepLink(ofCode: made.code)
    expires_at = invite.expiresAt
    _max_uses = OrNull(wrappedValue: invite.usesMax)
    uses_count = invite.usesCount
    usable = invite.isUsable(at: now)
    created_at = invite.createdAt
  }
}
