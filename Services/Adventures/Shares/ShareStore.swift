import Database
import Foundation
import RestQueries
import Wire

/// The statements on shares and their recipients.
enum ShareStore {
  static let weekSeconds = 7 * 86_400.0
  static let batchSize = 100

  /// - Throws: ``RestQueries/RestFailure`` 400 for a share that has ended, or ends later than in a week.
  static func requireEnd(of keys: [String], at now: Date, on db: any Connection) throws {
    for key in keys {
      let row = try db.row("select expires_at from eta_share where id = \(ID<Share>(key))")
      guard let end = try row?.get("expires_at", as: Date.self), end > now, end <= now + weekSeconds else {
        throw RestFailure.shareEnd
      }
    }
  }

  /// A share that is over is not made active again, whatever its owner says, so that it ends once.
  static func endWhatIsOver(among keys: [String], at now: Date, on db: any Connection) throws {
    for key in keys.sorted() {
      try db.change("update eta_share set is_active = false where id = \(ID<Share>(key)) and expires_at <= \(now)")
    }
  }

  /// Those who see the share.
  static func recipients(of key: String, on db: any Connection) throws -> Set<UserID> {
    let rows = try db.rows(
      "select user_id from eta_recipient where share_id = \(ID<Share>(key)) and not is_hidden")
    return Set(try rows.map { try $0.get("user_id") })
  }

  /// Those recipients from whom a share of the owner is hidden although they are not blocked, or the other way round.
  static func recipients(
    of owner: UserID, among users: Set<UserID>, butNotAs blocked: Set<UserID>, on db: any Connection
  ) throws -> Set<UserID> {
    let rows = try db.rows(
      of: Array(users).statementChunks.map { users in
        """
        select distinct r.user_id, r.is_hidden from eta_recipient r join eta_share s on s.id = r.share_id
        where s.user_id = \(owner) and r.user_id in (\(list: users))
        """
      })
    return try rows.joined().reduce(into: []) { wrong, row in
      let user: UserID = try row.get("user_id")
      if try row.get("is_hidden") != blocked.contains(user) { wrong.insert(user) }
    }
  }

  /// The recipients that the share's row names.
  static func setRecipients(of key: String, hidden: Set<UserID>, on db: any Connection) throws {
    let id = ID<Share>(key)
    try db.change("delete from eta_recipient where share_id = \(id)")
    guard let row = try db.row("select recipients from eta_share where id = \(id)") else { return }
    for user in Set(try named(in: row)).sorted(by: { $0.description < $1.description }) {
      try db.change(
        """
        insert into eta_recipient (share_id, user_id, is_hidden) values (\(id), \(user), \(hidden.contains(user)))
        """)
    }
  }

  static func deleteRecipients(of key: String, on db: any Connection) throws {
    try db.change("delete from eta_recipient where share_id = \(ID<Share>(key))")
  }

  /// Who sees the shares that are there now. They are locked, so that this stays true until the transaction ends.
  static func views(of keys: [String], at now: Date, on db: any Connection) throws -> [String: ShareView] {
    var views: [String: ShareView] = [:]
    for key in keys.sorted() {
      let row = try db.row(
        "update eta_share set is_active = is_active where id = \(ID<Share>(key)) returning is_active, expires_at")
      guard let row else { continue }
      let isActive = try row.get("is_active", as: Bool.self) && row.get("expires_at", as: Date.self) > now
      views[key] = ShareView(isActive: isActive, recipients: isActive ? try recipients(of: key, on: db) : [])
    }
    return views
  }

  /// Hides the shares of an owner from a recipient, or shows them.
  ///
  /// - Returns: the ids of those that were not so before, at most a batch.
  static func hide(
    _ isHidden: Bool, from recipient: UserID, of owner: UserID, on db: any Connection
  ) throws -> [String] {
    try db.rows(
      """
      update eta_recipient set is_hidden = \(isHidden) where user_id = \(recipient) and share_id in (
        select r.share_id from eta_recipient r join eta_share s on s.id = r.share_id
        where r.user_id = \(recipient) and r.is_hidden <> \(isHidden) and s.user_id = \(owner) limit \(batchSize))
      returning share_id
      """
    ).map { try $0.get("share_id") }
  }

  /// Writes down that shares have ended.
  ///
  /// - Returns: their ids and owners, at most a batch.
  static func end(at now: Date, on db: any Connection) throws -> [(key: String, owner: UserID)] {
    try db.rows(
      """
      update eta_share set is_active = false where id in (
        select id from eta_share where is_active and expires_at <= \(now) order by expires_at limit \(batchSize))
      and is_active returning id, user_id
      """
    ).map { (try $0.get("id"), try $0.get("user_id")) }
  }

  /// Deletes shares whose time was over before.
  ///
  /// - Returns: their ids and owners.
  static func deleteEnded(
    before end: Date, limit: Int, on db: any Connection
  ) throws -> [(key: String, owner: UserID)] {
    let deleted = try db.rows(
      """
      delete from eta_share where id in (
        select id from eta_share where not is_active and expires_at < \(end) order by expires_at limit \(limit))
      and not is_active and expires_at < \(end) returning id, user_id
      """
    ).map { (key: try $0.get("id", as: String.self), owner: try $0.get("user_id", as: UserID.self)) }
    for share in deleted { try deleteRecipients(of: share.key, on: db) }
    return deleted
  }

  /// When the next share ends.
  static func nextEnd(on db: any Connection) throws -> Date? {
    try db.row("select expires_at from eta_share where is_active order by expires_at limit 1")?.get("expires_at")
  }

  /// Takes somebody out of the shares of others, which are locked: their owners may change the recipients meanwhile.
  ///
  /// - Returns: the ids of the shares, and their owners.
  static func removeRecipient(_ user: UserID, on db: any Connection) throws -> [(key: String, owner: UserID)] {
    let rows = try db.rows(
      """
      update eta_share set is_active = is_active
      where id in (select share_id from eta_recipient where user_id = \(user)) returning id, user_id, recipients
      """)
    for row in rows {
      let left = try named(in: row).filter { $0 != user }.map { JSONTree.string($0.description) }
      try db.change(
        """
        update eta_share set recipients = \(JSONTree.array(left).text)
        where id = \(try row.get("id", as: ID<Share>.self))
        """)
    }
    try db.change("delete from eta_recipient where user_id = \(user)")
    return try rows.map { (try $0.get("id"), try $0.get("user_id")) }
  }

  private static func named(in row: Row) throws -> [UserID] {
    guard case .array(let elements) = try JSONReader.tree(of: try row.get("recipients", as: String.self)) else {
      return []
    }
    return elements.compactMap { $0.string.flatMap { UserID($0) } }
  }
}

/// Who sees a share beside its owner.
struct ShareView {
  let isActive: Bool
  /// Empty for one that has ended.
  let recipients: Set<UserID>
}

/// The subject of ids of shares.
enum Share {}
