import Foundation
import Wire

/// An active member of a group.
struct GroupMember: Sendable, Hashable {
  let user: UserID
  let role: GroupRole
  let joinedAt: Date
}

/// The id of a membership where members are rows of a table. A user who comes back has a new one.
typealias MembershipID = ID<GroupMember>
