import Foundation
import Wire

/// A group as one of its members sees it: the group, its members, and its newest photo.
struct GroupSummary: Sendable {
  let group: Group
  /// In the order in which they joined.
  let members: [GroupMember]
  /// The role of the viewing member.
  let role: GroupRole
  let hasSentToday: Bool
  let lastPhoto: LastPhoto?
}

/// The newest photo of a group that the viewing member may see.
struct LastPhoto: Sendable, Hashable {
  let createdAt: Date
  let sender: UserID
}
