import Foundation
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
  /// Whether it has the limits of the app with a photo a day: few members, and few groups for each of them.
  var isLimited = true
  /// When the present code was made. Whoever was removed later cannot join by it.
  var codeMadeAt: Date?

  /// The largest number of members that the apps can show.
  static let memberCountMax = 12

  /// The largest number of members of other groups.
  static let unlimitedMemberCountMax = 10_000

  /// The largest number of groups that one user may be in.
  static let groupCountMax = 5

  /// The largest number of groups of both kinds that one user may be in, to make or join another one without limits.
  /// With those that have limits they are fewer than other services are told of (`MemberOfGroups.groupsMax`).
  static let groupCountOfBothKindsMax = 400

  /// The calendar day on which `now` falls in the group's time zone, as `yyyy-MM-dd`.
  func day(at now: Date) -> String {
    Date.ISO8601FormatStyle(timeZone: timeZone).year().month().day().format(now)
  }
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
