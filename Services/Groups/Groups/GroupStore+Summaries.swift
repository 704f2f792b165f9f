import Database
import Foundation
import Wire

/// Loads the summaries of all groups of a user, in four queries however many groups there are.
extension GroupStore {
  /// A day on which a user has sent a photo to a group.
  struct SentDay: Hashable {
    let group: GroupID
    let day: String

    init(_ group: GroupID, _ day: String) {
      self.group = group
      self.day = day
    }
  }

  static func summaries(of user: UserID, at now: Date, on db: any Connection) throws -> [GroupSummary] {
    let groups = try groups(of: user, on: db)
    let members = try members(ofGroupsOf: user, on: db)
    let sent = try sentDays(of: user, among: Set(groups.map { $0.day(at: now) }), on: db)
    let photos = try lastPhotos(seenBy: user, at: now, on: db)
    return groups.map { group in
      let members = members[group.id] ?? []
      return GroupSummary(
        group: group, members: members, role: members.first { $0.user == user }?.role ?? .member,
        hasSentToday: sent.contains(SentDay(group.id, group.day(at: now))), lastPhoto: photos[group.id])
    }
  }

  private static func groups(of user: UserID, on db: any Connection) throws -> [Group] {
    try db.rows(
      """
      select social_group.* from social_group join membership mine on mine.group_id = social_group.id
      where mine.user_id = \(user) and mine.state = 'active' and social_group.is_limited
      order by social_group.created_at desc, social_group.id desc
      """
    ).map(Group.init)
  }

  private static func members(ofGroupsOf user: UserID, on db: any Connection) throws -> [GroupID: [GroupMember]] {
    let rows = try db.rows(
      """
      select other.group_id, other.user_id, other.role, other.joined_at
      from membership mine join social_group g on g.id = mine.group_id and g.is_limited
        join membership other on other.group_id = mine.group_id and other.state = 'active'
      where mine.user_id = \(user) and mine.state = 'active' order by other.joined_at, other.user_id
      """)
    var members: [GroupID: [GroupMember]] = [:]
    for row in rows { members[try row.get("group_id"), default: []].append(try GroupMember(row)) }
    return members
  }

  static func sentDays(of user: UserID, among days: Set<String>, on db: any Connection) throws -> Set<SentDay> {
    let rows = try db.rows(
      """
      select group_id, day from photo
      where sender_id = \(user) and state = 'ready' and day in (\(list: days.sorted()))
      """)
    return Set(try rows.map { SentDay(try $0.get("group_id"), try $0.get("day")) })
  }

  private static func lastPhotos(seenBy user: UserID, at now: Date, on db: any Connection) throws -> [GroupID:
    LastPhoto]
  {
    let rows = try db.rows(
      """
      select photo.group_id, photo.sender_id, photo.created_at
      from membership viewer join photo on photo.group_id = viewer.group_id
      where viewer.user_id = \(user) and viewer.state = 'active' and photo.state = 'ready' and photo.expires_at > \(now)
        and not \(BlockStore.existsBetweenSenderAndViewer)
      order by photo.created_at, photo.id
      """)
    var photos: [GroupID: LastPhoto] = [:]
    for row in rows {
      photos[try row.get("group_id")] = LastPhoto(
        createdAt: try row.get("created_at"), sender: try row.get("sender_id"))
    }
    return photos
  }
}

extension GroupMember {
  fileprivate init(_ row: Row) throws {
    user = try row.get("user_id")
    role = try row.enumValue("role")
    joinedAt = try row.get("joined_at")
  }
}
