import Foundation

/// Asks the lists service to let somebody into a list because they have accepted an invite.
package struct JoinList: Codable, Sendable {
  package let inviteID: String
  /// Joining again by the same claim is the same joining. nil from an older process: then by the same invite.
  package let claimID: ClaimID?
  /// The invite is good only for as long as they may invite.
  package let invitedBy: UserID?
  /// Nobody comes in by it who was removed since then.
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

/// What became of it.
package struct ListJoined: Codable, Sendable, Hashable {
  package enum Outcome: String, Codable, Sendable {
    case joined
    /// They were in the list before, and keep the role that they had.
    case alreadyMember = "already_member"
  }

  package let outcome: Outcome
  /// The one that they have now: `owner`, `editor` or `viewer`.
  package let role: String
  package let membershipID: Int?
  package let list: ListName

  package init(outcome: Outcome, role: String, membershipID: Int?, list: ListName) {
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

/// A list as those see it who are not in it yet.
package struct ListName: Codable, Sendable, Hashable {
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

/// What somebody is in a list.
package struct ListRole: Codable, Sendable, Hashable {
  /// `owner`, `editor`, `viewer`, or null for a stranger.
  @OrNull package var role: String?
  package let list: ListName

  package init(role: String?, list: ListName) {
    self._role = OrNull(wrappedValue: role)
    self.list = list
  }
}
