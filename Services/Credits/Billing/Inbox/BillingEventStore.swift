import Database
import Foundation
import Outbox
import Tokens
import Wire

/// Every statement on the inbox of billing events, whose bodies are encrypted.
struct BillingEventStore: Sendable {
  let database: any Database
  let keys: DataKeys

  /// The raw values are stored.
  enum Status: String, Sendable, Codable {
    case waiting, done, parked, ignored
  }

  /// Longer than any try takes, with its calls to the provider.
  static let leaseDuration = Duration.seconds(120)

  static let leases = LeaseTable(
    table: "billing_event", selected: "provider, event_id, kind, sealed, received_at", leaseDuration: leaseDuration)

  /// Stores an event once. Returns false when it has been stored before.
  ///
  /// - Parameter reason: parks the event at once, for this reason.
  func store(
    _ provider: PurchaseProvider, eventID: String, kind: String, _ body: Data, parkedBecause reason: String? = nil,
    at now: Date
  ) async throws -> Bool {
    let id = BillingEventID.new(at: now)
    let sealed = try keys.seal(body, purpose: Self.purpose(provider, eventID))
    let status = reason == nil ? Status.waiting : .parked
    return try await database.write { db in
      try db.change(
        """
        insert into billing_event (id, provider, event_id, kind, sealed, status, reason, received_at, settled_at, due_at)
        values (\(id), \(provider.rawValue), \(eventID), \(kind), \(sealed), \(status.rawValue), \(reason), \(now),
          \(reason == nil ? nil : now), \(reason == nil ? now : nil))
        on conflict (provider, event_id) do nothing
        """) == 1
    }
  }

  /// - Throws: ``ParkedEvent`` when no key decrypts the body.
  func event(_ row: Row) throws -> StoredBillingEvent {
    let (provider, eventID): (PurchaseProvider, String) = (try row.enumValue("provider"), try row.get("event_id"))
    // `try?`: the error says nothing more.
    guard let body = try? keys.open(try row.get("sealed"), purpose: Self.purpose(provider, eventID)) else {
      throw ParkedEvent("its body cannot be decrypted: DATA_KEYS lacks the key")
    }
    return StoredBillingEvent(
      id: try row.get("leased_key"), provider: provider, eventID: eventID, kind: try row.get("kind"), body: body,
      receivedAt: try row.get("received_at"), tries: try row.get("tries"))
  }

  /// Sets the outcome of an event whose lease has been finished in the same transaction.
  static func settle(
    _ id: String, as status: Status, because reason: String?, user: UserID?, at now: Date, on db: any Connection
  ) throws {
    try db.change(
      """
      update billing_event set status = \(status.rawValue), reason = \(reason), settled_at = \(now),
        user_id = coalesce(\(user), user_id)
      where id = \(id) and status = 'waiting'
      """)
  }

  /// Makes a parked event wait again, with all its tries. Returns false when it is not parked.
  func retry(_ id: BillingEventID, at now: Date) async throws -> Bool {
    try await database.write { db in
      try db.change(
        """
        update billing_event set status = 'waiting', reason = null, settled_at = null, due_at = \(now), tries = 0
        where id = \(id) and status = 'parked'
        """) == 1
    }
  }

  func status(of id: BillingEventID) async throws -> Status? {
    try await database.readOnce { db in
      try db.row("select status from billing_event where id = \(id)").map { try $0.enumValue("status") }
    }
  }

  /// The parked events, the oldest first.
  ///
  /// - Parameter last: the last event of the previous page.
  func parked(limit: Int, after last: BillingEventID? = nil) async throws -> [ParkedEventRecord] {
    try await database.read { db in
      try db.rows(
        """
        select id, provider, event_id, kind, reason, received_at, settled_at from billing_event
        where status = 'parked' and id > \(last ?? Self.firstID) order by id limit \(limit)
        """
      ).map { row in
        ParkedEventRecord(
          id: try row.get("id"), provider: try row.enumValue("provider"), eventID: try row.get("event_id"),
          kind: try row.get("kind"), reason: try row.optional("reason") ?? "", receivedAt: try row.get("received_at"),
          parkedAt: try row.get("settled_at"))
      }
    }
  }

  /// How many events wait and are parked, by provider.
  func depths() async throws -> [(provider: String, status: String, count: Int)] {
    try await database.read { db in
      try db.rows(
        """
        select provider, status, count(*) as events from billing_event where status in ('waiting', 'parked')
        group by provider, status
        """
      ).map { (try $0.get("provider"), try $0.get("status"), try $0.get("events")) }
    }
  }

  /// Deletes events that were settled before `date`, at most `limit`. Returns how many.
  func sweep(before date: Date, limit: Int) async throws -> Int {
    try await database.write { db in
      try db.change(
        """
        delete from billing_event where id in (
          select id from billing_event where settled_at <= \(date) order by settled_at limit \(limit))
        """)
    }
  }

  /// The events about a user, for the user's export, without those whose key is gone.
  func events(of user: UserID) async throws -> [StoredBillingEvent] {
    let rows = try await database.read { db in
      try db.rows(
        """
        select id as leased_key, provider, event_id, kind, sealed, received_at, tries from billing_event
        where user_id = \(user) order by id limit 10000
        """)
    }
    return try rows.compactMap { row in
      do { return try event(row) } catch is ParkedEvent { return nil }
    }
  }

  static func erase(_ user: UserID, on db: any Connection) throws {
    try db.change("delete from billing_event where user_id = \(user)")
  }

  /// The encryption context of a row, so that its body cannot be moved to another row.
  private static func purpose(_ provider: PurchaseProvider, _ eventID: String) -> String {
    "billing event \(provider.rawValue) \(eventID)"
  }

  /// Less than every id of an event.
  private static let firstID = BillingEventID(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
}

/// A parked event, without its body.
struct ParkedEventRecord: Sendable, Hashable {
  let id: BillingEventID
  let provider: PurchaseProvider
  let eventID: String
  let kind: String
  let reason: String
  let receivedAt: Date
  let parkedAt: Date
}
