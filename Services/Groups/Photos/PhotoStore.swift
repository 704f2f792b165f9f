import Database
import Foundation
import Wire

/// Every statement on photos as members send and see them. That there is one for each member, group and day is the
/// table's own rule.
struct PhotoStore: Sendable {
  let database: any Database
  let sights: PhotoSights

  /// What has become of a photo that was announced.
  enum Announced: Sendable, Hashable {
    case waiting(GroupID)
    case sent
  }

  /// How long an announced photo is waited for.
  static let announcedLifetime: TimeInterval = 60 * 60
  /// How long what has come too late stays, so that nothing is cleared away that somebody is just confirming.
  private static let grace: TimeInterval = 10 * 60

  /// Spares work that would be for nothing; whether it really is the first of the day is decided when it is kept.
  ///
  /// - Throws: 403 to strangers; 400 when the photo of the day has been sent.
  func checkMaySend(to group: GroupID, by user: UserID, at now: Date) async throws {
    try await database.read { db in _ = try Self.openDay(of: group, for: user, at: now, on: db) }
  }

  /// Keeps a photo whose bytes are there, and says of which day it is.
  ///
  /// - Throws: 403 to who is no member any more; 400 for the second of the day.
  @discardableResult
  static func keep(_ photo: Photo, _ renditions: PhotoMeasures, on db: any Connection) throws -> String {
    let day = try lockedDay(of: photo, on: db)
    try oncePerDay {
      try db.change(
        """
        insert into photo (id, group_id, sender_id, day, state, created_at, expires_at, width, height, size_bytes)
        values (\(photo.id), \(photo.group), \(photo.sender), \(day), 'ready', \(photo.createdAt), \(photo.expiresAt),
          \(renditions.width), \(renditions.height), \(renditions.byteCount))
        """)
    }
    return day
  }

  /// Announces a photo that will be sent to the store itself. Who announces another takes the first back.
  ///
  /// - Throws: 403 to strangers; 400 when the photo of the day has been sent.
  static func announce(
    _ id: PhotoID, to group: GroupID, by user: UserID, at now: Date, on db: any Connection
  ) throws {
    // Nobody announces anything to a group that is being closed, or that they are leaving.
    _ = try GroupStore.locked(group, on: db)
    let day = try openDay(of: group, for: user, at: now, on: db)
    try db.change(
      """
      update photo set state = 'ended', expires_at = \(now)
      where sender_id = \(user) and group_id = \(group) and state = 'pending'
      """)
    try db.change(
      """
      insert into photo (id, group_id, sender_id, day, state, created_at, expires_at)
      values (\(id), \(group), \(user), \(day), 'pending', \(now), \(now + announcedLifetime + grace))
      """)
  }

  /// - Parameter sender: nil for whoever has the link.
  /// - Throws: 404 when nothing was announced, 410 when it is too late.
  func announced(_ id: PhotoID, by sender: UserID?, at now: Date) async throws -> Announced {
    try await database.read { db in
      guard let row = try db.row("select group_id, sender_id, state, expires_at from photo where id = \(id)"),
        try sender == nil || sender == row.get("sender_id")
      else { throw id.hasEnded(at: now) ? Failure.photoGone : Failure.photoNotFound }
      let end = try row.get("expires_at", as: Date.self)
      switch try row.get("state", as: String.self) {
      case "pending" where end - Self.grace > now: return .waiting(try row.get("group_id"))
      case "ready" where end > now: return .sent
      default: throw Failure.photoGone
      }
    }
  }

  /// Keeps an announced photo whose bytes are there now, and says of which day it is; its time begins only here.
  ///
  /// - Throws: 403 to who is no member any more; 400 for the second of the day; 410 when it was taken back meanwhile.
  static func confirm(_ photo: Photo, _ renditions: PhotoMeasures, on db: any Connection) throws -> String {
    let day = try lockedDay(of: photo, on: db)
    let confirmed = try oncePerDay {
      try db.change(
        """
        update photo set state = 'ready', day = \(day), created_at = \(photo.createdAt),
          expires_at = \(photo.expiresAt), width = \(renditions.width), height = \(renditions.height),
          size_bytes = \(renditions.byteCount)
        where id = \(photo.id) and sender_id = \(photo.sender) and state = 'pending'
        """)
    }
    guard confirmed == 1 else { throw Failure.photoGone }
    return day
  }

  /// The photos of the group's present day, in the order in which they came.
  ///
  /// - Throws: 403 to strangers.
  func today(of group: GroupID, for viewer: UserID, at now: Date) async throws -> [Photo] {
    let moment = sights.moment()
    let photos = try await database.read { db in
      let day = try Self.joined(group, by: viewer, on: db).day(at: now)
      return try db.rows(
        """
        select \(photoColumns) from photo join membership viewer on viewer.group_id = photo.group_id
        where photo.group_id = \(group) and photo.day = \(day) and \(Self.isSeen) and viewer.user_id = \(viewer)
          and photo.expires_at > \(now)
        order by photo.created_at, photo.id
        """
      ).map(Photo.init)
    }
    sights.remember(photos, for: viewer, since: moment)
    return photos
  }

  /// - Throws: 404 to who may not see it, 410 once it has ended.
  func photo(_ id: PhotoID, for viewer: UserID, at now: Date) async throws -> Photo {
    let moment = sights.moment()
    let photo = try await database.readOnce { db in
      let row = try db.row(
        """
        select \(photoColumns) from photo join membership viewer on viewer.group_id = photo.group_id
        where photo.id = \(id) and \(Self.isSeen) and viewer.user_id = \(viewer)
        """)
      guard let photo = try row.map(Photo.init), photo.expiresAt > now else {
        throw row != nil || id.hasEnded(at: now) ? Failure.photoGone : Failure.photoNotFound
      }
      return photo
    }
    sights.remember([photo], for: viewer, since: moment)
    return photo
  }

  /// The same, as it was a moment ago (``PhotoSights``).
  func photoOfLate(_ id: PhotoID, for viewer: UserID, at now: Date) async throws -> Photo {
    if let photo = try sights.photo(id, for: viewer, at: now) { return photo }
    return try await photo(id, for: viewer, at: now)
  }

  /// Ends the user's own photo; the sweeper deletes it.
  ///
  /// - Throws: 404 to who may not see it, 403 when it is somebody else's.
  func end(_ id: PhotoID, by user: UserID, at now: Date) async throws {
    defer { sights.end() }
    let ended = try await database.write { db in
      try db.change(
        """
        update photo set state = 'ended', expires_at = \(now)
        where id = \(id) and sender_id = \(user) and state = 'ready' and expires_at > \(now)
        """)
    }
    guard ended == 0 else { return }
    _ = try await photo(id, for: user, at: now)
    throw Failure.notOwnPhoto
  }

  /// A condition on `photo` and its `viewer`.
  static let isSeen: SQL = """
    photo.state = 'ready' and viewer.state = 'active' and not \(BlockStore.keepsPhotoFromViewer)
    """

  private static func joined(_ group: GroupID, by user: UserID, on db: any Connection) throws -> Group {
    guard try MembershipStore.activeRole(of: user, in: group, on: db) != nil,
      let group = try GroupStore.open(group, on: db)
    else { throw Failure.notInGroup }
    return group
  }

  /// The day to which a photo belongs. Whoever leaves, or is erased, in this moment has to wait: nothing of theirs may
  /// come after they are gone.
  private static func lockedDay(of photo: Photo, on db: any Connection) throws -> String {
    guard let group = try GroupStore.locked(photo.group, on: db),
      try MembershipStore.activeRole(of: photo.sender, in: photo.group, on: db) != nil
    else { throw Failure.notInGroup }
    return group.day(at: photo.createdAt)
  }

  private static func openDay(
    of group: GroupID, for user: UserID, at now: Date, on db: any Connection
  ) throws -> String {
    let day = try joined(group, by: user, on: db).day(at: now)
    let sent = try db.row(
      """
      select id from photo
      where sender_id = \(user) and group_id = \(group) and day = \(day) and state = 'ready'
      """)
    guard sent == nil else { throw Failure.alreadySentToday }
    return day
  }

  @discardableResult
  private static func oncePerDay(_ change: () throws -> Int) throws -> Int {
    do { return try change() } catch DatabaseFailure.unique("photo_daily") { throw Failure.alreadySentToday }
  }
}

let photoColumns: SQL = "photo.id, photo.group_id, photo.sender_id, photo.created_at, photo.expires_at"

extension Photo {
  init(_ row: Row) throws {
    id = try row.get("id")
    group = try row.get("group_id")
    sender = try row.get("sender_id")
    createdAt = try row.get("created_at")
    expiresAt = try row.get("expires_at")
  }
}
