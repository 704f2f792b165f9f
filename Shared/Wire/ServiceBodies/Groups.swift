import Foundation

/// The role of a member of a group.
package enum GroupRole: String, Codable, Sendable {
  case owner, member
}

/// A group and the membership of a user in it, for other services.
package struct GroupMembership: Codable, Sendable, Hashable {
  package let groupID: GroupID
  package let groupName: String
  /// The user's role, also after they have left; nil when they were never a member.
  @NullCodable package var role: GroupRole?
  /// Whether they are a member now. Only active members may read the group or invite.
  package let isActive: Bool
  /// How many members can still be added.
  package let seatsLeft: Int

  package init(groupID: GroupID, groupName: String, role: GroupRole?, isActive: Bool, seatsLeft: Int) {
    self.groupID = groupID
    self.groupName = groupName
    self._role = NullCodable(wrappedValue: role)
    self.isActive = isActive
    self.seatsLeft = seatsLeft
  }

  private enum CodingKeys: String, CodingKey {
    case role
    case groupID = "group_id"
    case groupName = "group_name"
    case isActive = "is_active"
    case seatsLeft = "seats_left"
  }
}

/// The group that a code opens.
package struct GroupOfCode: Codable, Sendable, Hashable {
  package let groupID: GroupID
  package let groupName: String
  @NullCodable package var owner: UserID?

  package init(groupID: GroupID, groupName: String, owner: UserID?) {
    self.groupID = groupID
    self.groupName = groupName
    _owner = NullCodable(wrappedValue: owner)
  }

  private enum CodingKeys: String, CodingKey {
    case owner
    case groupID = "group_id"
    case groupName = "group_name"
  }
}

/// The groups that a user is in now, and whom a block keeps apart from the user, whoever has made it.
package struct MemberOfGroups: Codable, Sendable, Hashable {
  package static let groupsMax = 500
  package static let blockedMax = 500

  package let groups: [GroupID]
  /// nil from an older process.
  package let blocked: [UserID]?

  package init(groups: [GroupID], blocked: [UserID]) {
    self.groups = groups
    self.blocked = blocked
  }
}

/// Two users between whom there is a block now, or no block any more.
package struct ChangedBlock: Codable, Sendable {
  package let one: UserID
  package let other: UserID

  package init(one: UserID, other: UserID) {
    self.one = one
    self.other = other
  }
}

/// Users whose membership of a group has ended or begun, for the service that keeps what only members see.
package struct ChangedMemberships: Codable, Sendable {
  package static let usersMax = 50

  package let users: [UserID]

  package init(users: [UserID]) { self.users = users }
}

/// Adds a user to a group by an invite, or to a collection with the invite's role.
package struct JoinByInvite: Codable, Sendable {
  package let inviteID: InviteID
  /// Repeating a call with the same claim and user has the same outcome and no further effect. A user who has left and
  /// accepts the invite again has another claim. nil from an older process, for which an invite adds a user once.
  package let claimID: ClaimID?
  package let invitedBy: UserID?
  /// When the invite was made. Users who were removed later cannot join by it. nil from an older process, which cannot
  /// handle that failure.
  package let madeAt: Date?
  /// Whether anyone who has the link can use it. It is valid only while its inviter may invite.
  package let isLink: Bool?
  /// Only for a collection.
  package let role: CollectionRole?

  package init(
    inviteID: InviteID, claimID: ClaimID? = nil, invitedBy: UserID?, madeAt: Date? = nil, isLink: Bool? = nil,
    role: CollectionRole? = nil
  ) {
    self.inviteID = inviteID
    self.claimID = claimID
    self.invitedBy = invitedBy
    self.madeAt = madeAt
    self.isLink = isLink
    self.role = role
  }

  private enum CodingKeys: String, CodingKey {
    case role
    case inviteID = "invite_id"
    case claimID = "claim_id"
    case invitedBy = "invited_by"
    case madeAt = "made_at"
    case isLink = "is_link"
  }
}

/// The outcome of joining by an invite.
package enum JoinOutcome: String, Codable, Sendable {
  case joined
  case alreadyMember = "already_member"
  /// No seats are left.
  case full
  /// The user is in the maximum number of groups.
  case tooManyGroups = "too_many_groups"
  /// The user is in the maximum number of lists.
  case tooManyLists = "too_many_lists"
  /// The inviter or the user has blocked the other.
  case blocked
  /// The user was removed after the invite had been made.
  case removed
  /// The inviter may no longer invite, so the invite is not valid any more.
  case lapsed
}

/// The reply to ``JoinByInvite`` for a group.
package struct JoinedGroup: Codable, Sendable, Hashable {
  package let outcome: JoinOutcome
  package let groupID: GroupID
  package let groupName: String

  package init(outcome: JoinOutcome, groupID: GroupID, groupName: String) {
    self.outcome = outcome
    self.groupID = groupID
    self.groupName = groupName
  }

  private enum CodingKeys: String, CodingKey {
    case outcome
    case groupID = "group_id"
    case groupName = "group_name"
  }
}

/// Adds users to a group as a member of it: all who can be added, or nobody when there are not enough seats.
package struct AddToGroup: Codable, Sendable {
  package static let usersMax = 500

  /// Without duplicates and sorted, as a call that is repeated with its key must have the same body.
  package let users: [UserID]
  package let addedBy: UserID

  package init(users: some Sequence<UserID>, addedBy: UserID) {
    self.users = Set(users).sorted { $0.description < $1.description }
    self.addedBy = addedBy
  }

  private enum CodingKeys: String, CodingKey {
    case users
    case addedBy = "added_by"
  }
}

/// The users who were added. Left out are members, users with a block between them and the adding user, users in too
/// many groups, and users who have left the group or were removed, unless the owner who adds them has removed them.
package struct AddedToGroup: Codable, Sendable, Hashable {
  package let added: [UserID]

  package init(added: [UserID]) { self.added = added }
}

/// The users of ``AddToGroup`` who have left the group or were removed, so that they are not added but may be invited.
package struct DepartedMembers: Codable, Sendable, Hashable {
  package let departed: [UserID]

  package init(departed: [UserID]) { self.departed = departed }
}
