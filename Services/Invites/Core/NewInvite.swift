import Database
import Foundation
import Tokens
import Wire

/// The values of an invite to insert.
struct NewInvite: Sendable {
  var channel = Invite.Channel.link
  let target: JoinTarget
  var role: String?
  let inviter: UserID
  var invitee: UserID?
  var email: String?
  /// The HMAC of the invited user or address, for direct invites: of each inviter only one such invite to a list is
  /// open for the same invitee.
  var inviteeHash: [UInt8]?
  var phone: String?
  /// Whether the token is also stored sealed, so that it can be shown again until ``InviteSweep`` erases it.
  var storesSealedToken = false
  var usesMax: Int?
  let expiresAt: Date
}

extension InviteStore {
  /// Inserts an invite with a new token from `make`.
  ///
  /// - Throws: ``DatabaseFailure/contended`` after eight tokens that were taken.
  func add(
    _ new: NewInvite, token make: () -> InviteToken, at now: Date, on db: any Connection
  ) throws -> (invite: Invite, token: InviteToken) {
    let id = InviteID.new(at: now)
    // A short code may be taken by another invite; eight collisions in a row do not happen.
    for _ in 0..<8 {
      let token = make()
      let sealed = try new.storesSealedToken ? seal(token.text, .token, id) : nil
      let inserted = try db.change(
        """
        insert into invite
          (id, way, kind, destination_id, secret_hash, sealed_secret, role, inviter_id, invitee_id, sealed_email,
            sealed_phone, state, uses_max, created_at, expires_at, invitee_hash)
        values (\(id), \(new.channel.rawValue), \(new.target.kind.rawValue), \(new.target.id),
          \(token.digest(under: keys)), \(sealed), \(new.role), \(new.inviter), \(new.invitee),
          \(try new.email.map { try seal($0, .email, id) }), \(try new.phone.map { try seal($0, .phone, id) }),
          'pending', \(new.usesMax), \(now), \(new.expiresAt),
          \(new.inviteeHash))
        on conflict (secret_hash) do nothing
        """)
      guard inserted == 1 else { continue }
      if new.target.kind == .list { try db.change("insert into list_invite_number (invite_id) values (\(id))") }
      guard let invite = try Self.find(id, on: db) else { throw DatabaseFailure.contended }
      return (invite, token)
    }
    throw DatabaseFailure.contended
  }

  /// The values that an invite's row stores encrypted. The raw values are part of the encryption's purpose.
  enum SealedField: String {
    case token = "secret"
    case email, phone

    var column: SQL {
      switch self {
      case .token: "sealed_secret"
      case .email: "sealed_email"
      case .phone: "sealed_phone"
      }
    }
  }

  /// The decrypted value; nil when it was never stored or has been erased.
  func open(_ field: SealedField, of id: InviteID, on db: any Connection) throws -> String? {
    try db.row("\(selectInvite(with: field)) where id = \(id)").flatMap { try open(field, in: $0) }
  }

  /// The same from a row of ``selectInvite(with:)``.
  func open(_ field: SealedField, in row: Row) throws -> String? {
    let id = try row.get("id", as: InviteID.self)
    return try row.optional("sealed", as: [UInt8].self).map {
      String(decoding: try keys.open($0, purpose: purpose(field, id)), as: UTF8.self)
    }
  }

  func open(_ field: SealedField, of id: InviteID) async throws -> String? {
    try await database.read { db in try open(field, of: id, on: db) }
  }

  private func seal(_ text: String, _ field: SealedField, _ id: InviteID) throws -> [UInt8] {
    try keys.seal(Data(text.utf8), purpose: purpose(field, id))
  }

  /// The purpose contains the row's id, so that a sealed value cannot be moved to another row.
  private func purpose(_ field: SealedField, _ id: InviteID) -> String { "invite \(field.rawValue) \(id)" }
}
