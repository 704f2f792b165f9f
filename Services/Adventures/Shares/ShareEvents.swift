import Database
import EventFeed
import Foundation
import RestQueries
import Wire

/// The events of shares, on the topics of their owner and of those who see them.
struct ShareEvents {
  let engine: Engine

  /// A share was made or changed. A recipient to whom it is shown, or hidden, by the change gets a row that appears, or
  /// one that is gone.
  ///
  /// - Parameter before: who saw it until now; nil for a new one.
  func changed(
    _ key: String, for caller: RestQueries.Caller, before: ShareView?, on db: any Connection
  ) throws {
    let (table, owner) = (AdventureTables.shares, caller.id)
    guard let row = try ChangedRows.records(of: table, [key], for: caller, on: db, engine).first else { return }
    let isActive = row["is_active"] == .bool(true)
    let recipients = isActive ? try ShareStore.recipients(of: key, on: db) : []
    let known = before?.recipients ?? []
    func tell(_ name: String, _ users: Set<UserID>, _ change: EventChange) {
      Self.record(name, key, of: owner, to: users, change, at: caller.now, on: db)
    }
    let (insert, update) = (ChangedRows.change(table, .insert, row), ChangedRows.change(table, .update, row))
    guard let before else { return tell("eta_shared", recipients.union([owner]), insert) }
    if isActive {
      tell("eta_changed", recipients.intersection(known).union([owner]), update)
      tell("eta_shared", recipients.subtracting(known).subtracting([owner]), insert)
    } else {
      tell(before.isActive ? "eta_ended" : "eta_changed", [owner], update)
    }
    let left = known.subtracting(recipients).subtracting([owner])
    tell("eta_ended", left, ChangedRows.deletion(table, key))
  }

  /// - Parameter before: who saw it. Of one that had ended only its owner is told, and not of its end again.
  func deleted(_ key: String, of owner: UserID, before: ShareView?, at now: Date, on db: any Connection) {
    Self.record(
      before?.isActive ?? true ? "eta_ended" : "eta_changed", key, of: owner,
      to: (before?.recipients ?? []).union([owner]), ChangedRows.deletion(AdventureTables.shares, key), at: now, on: db)
  }

  /// It was deleted long after its end, which its recipients were told.
  static func swept(_ key: String, of owner: UserID, at now: Date, on db: any Connection) {
    record(
      "eta_changed", key, of: owner, to: [owner], ChangedRows.deletion(AdventureTables.shares, key), at: now, on: db)
  }

  /// The owner is erased, with their topic.
  static func erased(_ key: String, of owner: UserID, recipients: Set<UserID>, at now: Date, on db: any Connection) {
    record(
      "eta_ended", key, of: owner, to: recipients.subtracting([owner]),
      ChangedRows.deletion(AdventureTables.shares, key), at: now, on: db)
  }

  /// A recipient is erased, and is among the recipients no longer.
  func recipientErased(of key: String, of owner: UserID, at now: Date, on db: any Connection) throws {
    let recipients = try ShareStore.recipients(of: key, on: db)
    let caller = RestQueries.Caller(owner, at: now)
    for row in try ChangedRows.records(of: AdventureTables.shares, [key], for: caller, on: db, engine) {
      let readers = row["is_active"] == .bool(true) ? recipients : []
      Self.record(
        "eta_changed", key, of: owner, to: readers.union([owner]),
        ChangedRows.change(AdventureTables.shares, .update, row), at: now, on: db)
    }
  }

  /// A recipient sees the share no longer, though it is not over.
  func hidden(_ key: String, from recipient: UserID, of owner: UserID, at now: Date, on db: any Connection) {
    Self.record(
      "eta_ended", key, of: owner, to: [recipient], ChangedRows.deletion(AdventureTables.shares, key), at: now, on: db)
  }

  /// A recipient sees the share again, if it is not over.
  func shown(
    _ key: String, to recipient: UserID, for owner: RestQueries.Caller, on db: any Connection
  ) throws {
    for row in try ChangedRows.records(of: AdventureTables.shares, [key], for: owner, on: db, engine)
    where row["is_active"] == .bool(true) {
      Self.record(
        "eta_shared", key, of: owner.id, to: [recipient], ChangedRows.change(AdventureTables.shares, .insert, row),
        at: owner.now, on: db)
    }
  }

  /// The time of a share is over.
  func ended(_ key: String, of owner: UserID, at now: Date, on db: any Connection) throws {
    let recipients = try ShareStore.recipients(of: key, on: db)
    // For its recipients the row is gone.
    Self.record(
      "eta_ended", key, of: owner, to: recipients.subtracting([owner]),
      ChangedRows.deletion(AdventureTables.shares, key), at: now, on: db)
    let caller = RestQueries.Caller(owner, at: now)
    for row in try ChangedRows.records(of: AdventureTables.shares, [key], for: caller, on: db, engine) {
      Self.record(
        "eta_ended", key, of: owner, to: [owner], ChangedRows.change(AdventureTables.shares, .update, row), at: now,
        on: db)
    }
  }

  private static func record(
    _ name: String, _ key: String, of owner: UserID, to users: Set<UserID>, _ change: EventChange, at now: Date,
    on db: any Connection
  ) {
    let topics = users.map(EventTopic.etaShares).sorted()
    // An event has a bound of topics.
    for start in stride(from: 0, to: topics.count, by: FeedEvent.topicsMax) {
      EventFeed.record(
        name, to: Array(topics[start..<min(start + FeedEvent.topicsMax, topics.count)]),
        ["share_id": key, "user_id": owner], change: change, of: owner, at: now, on: db)
    }
  }
}
