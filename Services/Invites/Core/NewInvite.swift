import Database
import Foundation
import Tokens
import Wire

/// An invite as somebody asks for it.
struct NewInvite: Sendable {
  var way = Invite.Way.link
  let destination: Destination
  var role: String?
  let inviter: UserID
  var invitee: UserID?
  var email: String?
  /// Of whom it waits for, where only one such invite may be open.
  var inviteeHash: [UInt8]?
  var phone: String?
  /// Whether the secret can be shown again, sealed for as long as it opens anything.
  var keepsSecret = false
  var usesMax: Int?
  let expiresAt: Date
}

extension InviteStore {
  /// Writes an invite, with the one secret that opens it.
  func add(
    _ new: NewInvite, secret make: () -> Secret, at now: Date, on db: any Connection
  ) throws -> (invite: Invite, secret: Secret) {
    let id = InviteID.new(at: now)
    // Of millions of codes one may be taken; that all of these are never happens.
    for _ in 0..<8 {
      let secret = make()
      let sealed = try new.keepsSecret ? seal(secret.text, .secret, id) : nil
      let made = try db.change(
        """
        insert into invite
          (id, way, kind, destination_id, secret_hash, sealed_secret, role, inviter_id, invitee_id, sealed_email,
            sealed_phone, state, uses_max, created_at, expires_at, invitee_hash)
        values (\(id), \(new.way.rawValue), \(new.destination.kind.rawValue), \(new.destination.id),
          \(secret.digest(under: keys)), \(sealed), \(new.role), \(new.inviter), \(new.invitee),
          \(try new.email.map { try seal($0, .email, id) }), \(try new.phone.map { try seal($0, .phone, id) }),
          'pending', \(new.usesMax), \(now), \(new.expiresAt),
          \(new.inviteeHash))
        on conflict (secret_hash) do nothing
        """)
      guard made == 1 else { continue }
      if new.destination.kind == .list { try db.change("insert into list_invite_number (invite_id) values (\(id))") }
      guard let invite = try Self.find(id, on: db) else { throw DatabaseFailure.contended }
      return (invite, secret)
    }
    throw DatabaseFailure.contended
  }

  /// What rests sealed beside an invite.
  enum Sealed: String {
    case secret, email, phone

    var column: SQL {
      switch self {
      case .secret: "sealed_secret"
      case .email: "sealed_email"
      case .phone: "sealed_phone"
      }
    }
  }

  /// nil when it was never there, or has been forgotten.
  func open(_ sealed: Sealed, of id: InviteID, on db: any Connection) throws -> String? {
    try db.row("\(selectInvite(with: sealed)) where id = \(id)").flatMap { try open(sealed, in: $0) }
  }

  /// The same of a row that was read with it.
  func open(_ sealed: Sealed, in row: Row) throws -> String? {
    let id = try row.get("id", as: InviteID.self)
    return try row.optional("sealed", as: [UInt8].self).map {
      String(decoding: try keys.open($0, purpose: purpose(sealed, id)), as: UTF8.self)
    }
  }

  func open(_ sealed: Sealed, of id: InviteID) async throws -> String? {
    try await database.read { db in try open(sealed, of: id, on: db) }
  }

  private func seal(_ text: String, _ sealed: Sealed, _ id: InviteID) throws -> [UInt8] {
    try keys.seal(Data(text.utf8), purpose: purpose(sealed, id))
  }

  /// Names the row, so that one row's secret cannot be put into another.
  private func purpose(_ sealed: Sealed, _ id: InviteID) -> String { "invite \(sealed.rawValue) \(id)" }
}
