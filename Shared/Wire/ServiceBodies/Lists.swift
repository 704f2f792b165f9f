import Foundation

/// The role of a user in a list. Viewers read, editors change, and only the owner deletes the list. Bodies have it as a
/// string, so that a role of a newer process does not fail the decoding.
package enum ListRole: String, Codable, Sendable {
  case owner, editor, viewer

  package var mayEdit: Bool { self != .viewer }
}

/// Adds a user who has accepted an invite to a list.
package struct JoinList: Codable, Sendable {
  package let inviteID: String
  /// Repeating a call with the same claim has no further effect. nil from an older process: then with the same invite.
  package let claimID: ClaimID?
  /// The inviter. The invite is valid only while they may invite.
  package let invitedBy: UserID?
  /// When the invite was made. Users who were removed later cannot join by it.
  package let madeAt: Date?
  /// `editor` or `viewer`.
  package let role: String

  package init(
    inviteID: String, claimID: ClaimID? = nil, invitedBy: UserID? = nil, madeAt: Date? = nil, role: String
  ) {
    self.inviteID = inviteID
    self.claimID = claimID
    self.invitedBy = invitedBy
    self.madeAt = madeAt
    self.role = role
  }

  private enum CodingKeys: String, CodingKey {
    case role
    case inviteID = "invite_id"
    case claimID = "claim_id"
    case invitedBy = "invited_by"
    case madeAt = "made_at"
  }
}

/// The reply to ``JoinList``.
package struct JoinedList: Codable, Sendable, Hashable {
  package enum Outcome: String, Codable, Sendable {
    case joined
    /// The user was a member before and keeps their role.
    case alreadyMember = "already_member"
  }

  package let outcome: Outcome
  /// The user's role after the call: `owner`, `editor` or `viewer`.
  package let role: String
  package let membershipID: Int?
  package let list: ListSummary

  package init(outcome: Outcome, role: String, membershipID: Int?, list: ListSummary) {
    self.outcome = outcome
    self.role = role
    self.membershipID = membershipID
    self.list = list
  }

  private enum CodingKeys: String, CodingKey {
    case outcome, role, list
    case membershipID = "membership_id"
  }
}

/// What users who are not members may see of a list.
package struct ListSummary: Codable, Sendable, Hashable {
  package let id: Int
  package let name: String
  package let color: String
  /// `private`, `shared` or `public`.
  package let visibility: String

  package init(id: Int, name: String, color: String, visibility: String) {
    self.id = id
    self.name = name
    self.color = color
    self.visibility = visibility
  }
}

/// A list and the role of a user in it.
package struct ListMembership: Codable, Sendable, Hashable {
  /// `owner`, `editor` or `viewer`; null when the user is not a member.
  @NullCodable package var role: String?
  package let list: ListSummary

  package init(role: String?, list: ListSummary) {
    self._role = NullCodable(wrappedValue: role)
    self.list = list
  }
}
