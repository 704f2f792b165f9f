import Foundation

/// What a member of a group is in it.
package enum GroupRole: String, Codable, Sendable {
  case owner, member
}

/// How a user stands to a group, as other services see it.
package struct GroupStanding: Codable, Sendable, Hashable {
  package let groupID: GroupID
  package let groupName: String
  /// What the user is in it, or was last; nil for who has never been in it.
  @OrNull package var role: GroupRole?
  /// Only an active member may see anything, or invite.
  package let isActive: Bool
  /// How many more can come in.
  package let seatsLeft: Int

  package init(groupID: GroupID, groupName: String, role: GroupRole?, isActive: Bool, seatsLeft: Int) {
    self.groupID = groupID
    self.groupName = groupName
    self._role = OrNull(wrappedValue: role)
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

/// Lets a user into a group by an invite, or into a collection with the role that the invite gives.
package struct JoinByInvite: Codable, Sendable {
  package let inviteID: InviteID
  /// The same claim and user again have the same outcome, and do nothing more. Who has gone and takes up the invite again
  /// does so by another claim. nil from an older process: there one invite lets each user in once.
  package let claimID: ClaimID?
  package let invitedBy: UserID?
  /// Nobody comes in by it who was removed since then. nil from an older process, which does not know how that is refused.
  package let madeAt: Date?
  /// Whether it is for whoever has it, and good only for as long as its maker may invite.
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

/// What became of somebody who was to join.
package enum JoinOutcome: String, Codable, Sendable {
  case joined
  case alreadyMember = "already_member"
  /// Every seat is taken.
  case full
  /// The user is in as many groups as anyone may be in.
  case tooManyGroups = "too_many_groups"
  /// The same of lists.
  case tooManyLists = "too_many_lists"
  /// One of the two, who invites and who joins, has blocked the other.
  case blocked
  /// They were removed after the invite had been made.
  case removed
  /// Whoever made the invite may not invite any more: nobody comes in by it.
  case lapsed
}

/// The answer to ``JoinByInvite`` for a group.
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

/// Adds users whom a member names to a group: all who can be added, or nobody when there are not enough seats.
package struct AddToGroup: Codable, Sendable {
  package static let usersMax = 500

  /// Each once, in one order whoever asks: a call that is repeated under its key must have the same body.
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

/// Who was added. Left out are members, who has blocked or is blocked by whoever adds, who is in too many groups, and who
/// has left the group or was removed, but for those whom the owner who adds them has removed.
package struct AddedToGroup: Codable, Sendable, Hashable {
  package let added: [UserID]

  package init(added: [UserID]) { self.added = added }
}

/// Those of the users of ``AddToGroup`` who have left the group or were removed, and so are not added but may be invited.
package struct DepartedFromGroup: Codable, Sendable, Hashable {
  package let departed: [UserID]

  package init(departed: [UserID]) { self.departed = departed }
}
