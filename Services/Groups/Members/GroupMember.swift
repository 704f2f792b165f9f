import Foundation
import Wire

/// An active member of a group.
struct GroupMember: Sendable, Hashable {
  let user: UserID
  let role: GroupRole
  let joinedAt: Date
}
