import Foundation
import Tokens
import Wire

/// A small group of users who share one photo a day each.
struct Group: Sendable, Hashable {
  let id: GroupID
  let name: String
  let description: String?
  let inviteCode: String
  /// Determines when the group's day begins.
  let timeZone: TimeZone
  let memberCount: Int
  let memberCountMax: Int
  let createdBy: UserID?
  let createdAt: Date

  /// The largest number of members that the apps can show.
  static let memberCountMax = 12

  /// The largest number of groups that one user may be in.
  static let groupCountMax = 5

  /// The calendar day on which `now` falls in the group's time zone, as `yyyy-MM-dd`.
  func day(at now: Date) -> String {
    Date.ISO8601FormatStyle(timeZone: timeZone).year().month().day().format(now)
  }
}

extension Group {
  /// A new random code by which a group can be joined, of 40 bits.
  static func newInviteCode() -> String { Random.text(count: 8, of: Random.unambiguousCharacters) }
}

extension TimeZone {
  /// The IANA name. Foundation's identifier of UTC is "GMT".
  var name: String { identifier == "GMT" ? "UTC" : identifier }
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
