import Database
import Foundation
import Photos
import Wire

/// Every statement of sending and viewing photos. A unique index ensures one photo for each member, group and day.
struct PhotoStore: Sendable {
  let database: any Database
  let photoAccess: PhotoAccessCache

  /// The state of a photo that is uploaded through an upload URL.
  enum UploadState: Sendable, Hashable {
    case pending(GroupID)
    case completed
  }

  /// How long a pending upload may be confirmed, in seconds.
  static let pendingLifetime: TimeInterval = 60 * 60
  /// How long an expired upload keeps its row, in seconds, so that the sweep does not delete its files during a
  /// confirmation.
  private static let grace: TimeInterval = 10 * 60

  /// Checked before rendering, to reject a photo early. The final check is made when the photo is inserted.
  ///
  /// - Throws: 403 for a user who is not a member; 400 when the photo of the day has been sent.
  func checkMaySend(to group: GroupID, by user: UserID, at now: Date) async throws {
    try await database.read { db in _ = try Self.openDay(of: group, for: user, at: now, on: db) }
  }

  /// Inserts a photo whose files are stored.
  ///
  /// - Returns: the day of the photo.
  /// - Throws: 403 for a sender who is not a member any more; 400 for the second photo of the day.
  @discardableResult
  static func insert(_ photo: Photo, _ dimensions: PhotoDimensions, on db: any Connection) throws -> String {
    let day = try lockedDay(of: photo, on: db)
    try oncePerDay {
      try db.change(
        """
        insert into photo (id, group_id, sender_id, day, state, created_at, expires_at, width, height, size_bytes)
        values (\(photo.id), \(photo.group), \(photo.sender), \(day), 'ready', \(photo.createdAt), \(photo.expiresAt),
          \(dimensions.width), \(dimensions.height), \(dimensions.byteCount))
        """)
    }
    try PhotoEvents.sent(photo, dimensions, on: db)
    return day
  }

  /// Inserts a pending upload through an upload URL. Ends the user's previous pending uploads to the group.
  ///
  /// - Throws: 403 for a user who is not a member; 400 when the photo of the day has been sent.
  static func insertPending(
    _ id: PhotoID, to group: GroupID, by user: UserID, at now: Date, on db: any Connection
  ) throws {
    // Waits for a transaction that closes the group or removes the user from it.
    try GroupStore.lock(group, on: db)
    let day = try openDay(of: group, for: user, at: now, on: db)
    try db.change(
      """
      update photo set state = 'ended', expires_at = \(now)
      where sender_id = \(user) and group_id = \(group) and state = 'pending'
      """)
    try db.change(
      """
      insert into photo (id, group_id, sender_id, day, state, created_at, expires_at)
      values (\(id), \(group), \(user), \(day), 'pending', \(now), \(now + pendingLifetime + grace))
      """)
  }

  /// - Parameter sender: nil for the holder of an upload link, which was made for an upload that there was.
  /// - Throws: 410 when the upload has expired, and for the holder of a link also when it is deleted; 404 when the sender
  ///   has no such upload.
  func uploadState(_ id: PhotoID, by sender: UserID?, at now: Date) async throws -> UploadState {
    try await database.read { db in
      guard let row = try db.row("select group_id, sender_id, state, expires_at from photo where id = \(id)"),
        try sender == nil || sender == row.get("sender_id")
      else { throw sender == nil || id.hasEnded(at: now) ? Failure.photoGone : Failure.photoNotFound }
      let end = try row.get("expires_at", as: Date.self)
      switch try row.get("state", as: String.self) {
      case "pending" where end - Self.grace > now: return .pending(try row.get("group_id"))
      case "ready" where end > now: return .completed
      default: throw Failure.photoGone
      }
    }
  }

  /// Makes a pending photo visible whose files are stored. Its lifetime begins here.
  ///
  /// - Returns: the day of the photo.
  /// - Throws: 403 for a sender who is not a member any more; 400 for the second photo of the day; 410 when the pending
  ///   upload was replaced meanwhile.
  static func confirm(_ photo: Photo, _ dimensions: PhotoDimensions, on db: any Connection) throws -> String {
    let day = try lockedDay(of: photo, on: db)
    let confirmed = try oncePerDay {
      try db.change(
        """
        update photo set state = 'ready', day = \(day), created_at = \(photo.createdAt),
          expires_at = \(photo.expiresAt), width = \(dimensions.width), height = \(dimensions.height),
          size_bytes = \(dimensions.byteCount)
        where id = \(photo.id) and sender_id = \(photo.sender) and state = 'pending'
        """)
    }
    guard confirmed == 1 else { throw Failure.photoGone }
    try PhotoEvents.sent(photo, dimensions, on: db)
    return day
  }

  /// The photos of the group's current day that the viewer may see, in the order in which they were sent.
  ///
  /// - Throws: 403 for a viewer who is not a member.
  func today(of group: GroupID, for viewer: UserID, at now: Date) async throws -> [Photo] {
    let start = photoAccess.queryStart()
    let photos = try await database.read { db in
      let day = try Self.requiredGroup(group, of: viewer, on: db).day(at: now)
      return try db.rows(
        """
        select \(photoColumns) from photo join membership viewer on viewer.group_id = photo.group_id
        where photo.group_id = \(group) and photo.day = \(day) and \(Self.isVisible) and viewer.user_id = \(viewer)
          and photo.expires_at > \(now)
        order by photo.created_at, photo.id
        """
      ).map(Photo.init)
    }
    photoAccess.insert(photos, for: viewer, since: start)
    return photos
  }

  /// - Throws: 404 for a viewer who may not see it, 410 once it has ended.
  func photo(_ id: PhotoID, for viewer: UserID, at now: Date) async throws -> Photo {
    let start = photoAccess.queryStart()
    let photo = try await database.readOnce { db in
      let row = try db.row(
        """
        select \(photoColumns) from photo join membership viewer on viewer.group_id = photo.group_id
        where photo.id = \(id) and \(Self.isVisible) and viewer.user_id = \(viewer)
        """)
      guard let photo = try row.map(Photo.init), photo.expiresAt > now else {
        throw row != nil || id.hasEnded(at: now) ? Failure.photoGone : Failure.photoNotFound
      }
      return photo
    }
    photoAccess.insert([photo], for: viewer, since: start)
    return photo
  }

  /// As ``photo(_:for:at:)``, but from ``PhotoAccessCache`` when possible.
  func cachedPhoto(_ id: PhotoID, for viewer: UserID, at now: Date) async throws -> Photo {
    if let photo = try photoAccess.photo(id, for: viewer, at: now) { return photo }
    return try await photo(id, for: viewer, at: now)
  }

  /// Ends the user's own photo; ``PhotoSweep`` deletes it.
  ///
  /// - Throws: 404 for a user who may not see it, 403 when another user has sent it.
  func end(_ id: PhotoID, by user: UserID, at now: Date) async throws {
    defer { photoAccess.invalidate() }
    let hasEnded = try await database.write { db in
      let row = try db.row(
        """
        update photo set state = 'ended', expires_at = \(now)
        where id = \(id) and sender_id = \(user) and state = 'ready' and expires_at > \(now) returning group_id
        """)
      guard let group: GroupID = try row?.get("group_id") else { return false }
      try PhotoEvents.deleted(id, in: group, of: user, at: now, on: db)
      return true
    }
    guard !hasEnded else { return }
    _ = try await photo(id, for: user, at: now)
    throw Failure.notOwnPhoto
  }

  /// The condition under which `viewer`, a membership, may see `photo`.
  static let isVisible: SQL = """
    photo.state = 'ready' and viewer.state = 'active' and not \(BlockStore.existsBetweenSenderAndViewer)
    """

  private static func requiredGroup(_ group: GroupID, of user: UserID, on db: any Connection) throws -> Group {
    guard try MembershipStore.activeRole(of: user, in: group, on: db) != nil,
      let group = try GroupStore.find(group, on: db), group.isLimited
    else { throw Failure.notInGroup }
    return group
  }

  /// The day of a photo. Locks the group, so that a concurrent departure or erasure of the sender waits: no photo of
  /// theirs may be inserted afterwards.
  private static func lockedDay(of photo: Photo, on db: any Connection) throws -> String {
    guard let group = try GroupStore.lock(photo.group, on: db), group.isLimited,
      try MembershipStore.activeRole(of: photo.sender, in: photo.group, on: db) != nil
    else { throw Failure.notInGroup }
    return group.day(at: photo.createdAt)
  }

  private static func openDay(
    of group: GroupID, for user: UserID, at now: Date, on db: any Connection
  ) throws -> String {
    let day = try requiredGroup(group, of: user, on: db).day(at: now)
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
