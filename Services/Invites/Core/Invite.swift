import Foundation
import Wire

/// An invitation to a collection, a group or a list, by a link or by a text message with a code, valid until it ends.
struct Invite: Sendable, Hashable {
  let id: InviteID
  /// The integer id of an invite to a list, for the lists app, which accepts no UUIDs; nil for other invites.
  let number: Int?
  let channel: Channel
  let target: JoinTarget
  /// The role that the invited user gets, in the vocabulary of the target; nil where the target has only one role.
  let role: String?
  /// nil after the inviter's account was erased; the invite is then revoked.
  let inviter: UserID?
  /// The only user who may use the invite; nil when it is not for one user.
  let invitee: UserID?
  /// Whether the invite is only for the user who has verified one particular e-mail address.
  let hasInviteeEmail: Bool
  /// The state in the database, which becomes `expired` only when ``InviteSweep`` runs: see ``state(at:)``.
  let storedState: State
  /// nil: unlimited until the invite ends.
  let usesMax: Int?
  let usesCount: Int
  let createdAt: Date
  let expiresAt: Date

  /// How the invite reaches the invited user; stored in the column `way`.
  enum Channel: String, Sendable {
    case link, text
  }

  /// The life cycle of an invite, as stored.
  enum State: String, Sendable {
    case pending, accepted, rejected, expired, revoked
  }

  /// The state at `now`: a pending invite counts as expired from its expiry on, also before the sweep has updated its
  /// row.
  func state(at now: Date) -> State { storedState == .pending && expiresAt <= now ? .expired : storedState }

  func isUsable(at now: Date) -> Bool { state(at: now) == .pending && !isUsedUp }

  var isUsedUp: Bool { usesMax.map { usesCount >= $0 } ?? false }

  /// The roles that an invite to a list can give, the default first.
  static let listRoles = [ListRole.viewer, .editor].map(\.rawValue)

  /// How long an invite is valid unless the inviter chooses another time.
  static let lifetimeSeconds = 7.0 * 86_400
}
