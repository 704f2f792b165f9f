import Foundation
import Wire

/// Somebody's word that others may come into what they share: by a link or by a text with a code, until it ends.
struct Invite: Sendable, Hashable {
  let id: InviteID
  /// The invite by a small integer: only of invites to lists, whose apps know no UUIDs.
  let number: Int?
  let way: Way
  let destination: Destination
  /// What whoever comes in will be there, in the words of what it leads to; nil where there is only one role.
  let role: String?
  /// nil when their account was forgotten: then it has been revoked.
  let inviter: UserID?
  /// For whom alone it is.
  let invitee: UserID?
  let isForAnAddress: Bool
  let kept: State
  /// nil: as many as come before it ends.
  let usesMax: Int?
  let usesCount: Int
  let createdAt: Date
  let expiresAt: Date

  enum Way: String, Sendable {
    case link, text
  }

  enum State: String, Sendable {
    case pending, accepted, rejected, expired, revoked
  }

  /// Time ends an invite before anybody marks it.
  func state(at now: Date) -> State { kept == .pending && expiresAt <= now ? .expired : kept }

  func isUsable(at now: Date) -> Bool { state(at: now) == .pending && !isUsedUp }

  var isUsedUp: Bool { usesMax.map { usesCount >= $0 } ?? false }

  static let lifetimeSeconds = 7.0 * 86_400
}

/// What an invite leads to.
enum Destination: Sendable, Hashable {
  case collection(CollectionID)
  case group(GroupID)
  case list(Int)

  var kind: Kind {
    switch self {
    case .collection: .collection
    case .group: .group
    case .list: .list
    }
  }

  /// As the database has it, beside the kind.
  var id: String {
    switch self {
    case .collection(let id): id.description
    case .group(let id): id.description
    case .list(let id): String(id)
    }
  }

  enum Kind: String, Sendable {
    case collection, group, list
  }

  init?(_ kind: Kind, _ id: String) {
    let destination: Destination? =
      switch kind {
      case .collection: CollectionID(id).map { .collection($0) }
      case .group: GroupID(id).map { .group($0) }
      case .list: Int(id).map { .list($0) }
      }
    guard let destination else { return nil }
    self = destination
  }
}
