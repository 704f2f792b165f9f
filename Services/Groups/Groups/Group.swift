import Foundation
import Wire

/// A few people who share a photo a day.
struct Group: Sendable, Hashable {
  let id: GroupID
  let name: String
  let description: String?
  let inviteCode: String
  /// Says when the group's day begins.
  let timeZone: TimeZone
  let memberCount: Int
  let memberCountMax: Int
  let createdBy: UserID?
  let createdAt: Date

  /// As many as the apps show.
  static let memberCountMax = 12

  /// As many groups as one person may be in.
  static let groupCountMax = 5

  /// The calendar day on which `now` falls in the group's time zone, as `yyyy-MM-dd`.
  func day(at now: Date) -> String {
    Date.ISO8601FormatStyle(timeZone: timeZone).year().month().day().format(now)
  }
}

extension TimeZone {
  /// Its IANA name: Foundation calls UTC "GMT".
  var name: String { identifier == "GMT" ? "UTC" : identifier }
}

/// One user's place in a group.
struct Member: Sendable, Hashable {
  let user: UserID
  let role: GroupRole
  let joinedAt: Date
}

/// The newest photo of a group that its viewer may see.
struct LastPhoto: Sendable, Hashable {
  let createdAt: Date
  let sender: UserID
}

/// A group as one of its members sees it.
struct GroupSight: Sendable {
  let group: Group
  /// The longest-standing first.
  let members: [Member]
  let role: GroupRole
  let hasSentToday: Bool
  let lastPhoto: LastPhoto?
}

extension Failure {
  static let groupNotFound = Failure(.notFound, "group_not_found", "There is no such group.")
  static let notInGroup = Failure(.forbidden, "not_a_member", "Not a member of this group")
  static let notGroupOwner = Failure(.forbidden, "not_the_owner", "Only the owner of the group may do that.")
  static let memberNotFound = Failure(.notFound, "member_not_found", "There is no such member.")
  static let groupFull = Failure(
    .malformed, "group_full", "A group has at most \(Group.memberCountMax) members.")
  static let tooManyGroups = Failure(
    .malformed, "too_many_groups", "You can be in at most \(Group.groupCountMax) groups.")
}
