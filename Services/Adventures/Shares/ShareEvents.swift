import Database
import EventFeed
import Foundation
import RestQueries
import Wire

/// The events of shares, on the topics of their owner and of those who see them.
struct ShareEvents {
  let engine: Engine

  /// - Parameter recipientsBefore: those who have seen the share until now, and do so no longer if they are not among
  ///   its recipients.
  func changed(
    _ key: String, for caller: RestQueries.Caller, recipientsBefore: Set<UserID>, on db: any Connection
  ) throws {
    let table = AdventureTables.shares
    guard let row = try ChangedRows.records(of: table, [key], for: caller, on: db, engine).first else { return }
    let isActive = row["is_active"] == .bool(true)
    let recipients = try ShareStore.recipients(of: key, on: db)
    let isNew = recipientsBefore.isEmpty
    record(
      isNew ? "eta_shared" : isActive ? "eta_changed" : "eta_ended", key, of: caller.id,
      to: recipients.union([caller.id]), ChangedRows.change(table, isNew ? .insert : .update, row), at: caller.now,
      on: db)
    removed(
      key, of: caller.id, from: recipientsBefore.subtracting(recipients), isOwnerTold: false, at: caller.now, on: db)
  }

  func removed(
    _ key: String, of owner: UserID, from recipients: Set<UserID>, isOwnerTold: Bool = true, at now: Date,
    on db: any Connection
  ) {
    record(
      "eta_ended", key, of: owner, to: isOwnerTold ? recipients.union([owner]) : recipients,
      ChangedRows.deletion(AdventureTables.shares, key), at: now, on: db)
  }

  /// The time of a share is over.
  func ended(_ key: String, of owner: UserID, at now: Date, on db: any Connection) throws {
    let recipients = try ShareStore.recipients(of: key, on: db)
    // For its recipients the row is gone.
    record(
      "eta_ended", key, of: owner, to: recipients, ChangedRows.deletion(AdventureTables.shares, key), at: now, on: db)
    let caller = RestQueries.Caller(owner, at: now)
    for row in try ChangedRows.records(of: AdventureTables.shares, [key], for: caller, on: db, engine) {
      record(
        "eta_ended", key, of: owner, to: [owner], ChangedRows.change(AdventureTables.shares, .update, row), at: now,
        on: db)
    }
  }

  private func record(
    _ name: String, _ key: String, of owner: UserID, to users: Set<UserID>, _ change: RowChange, at now: Date,
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
