import Database
import Foundation
import Wire

/// Who is present on which topic, over all replicas. What a replica has tracked counts as long as its lease lives, so
/// that nobody stays present after a crash.
struct PresenceStore: Sendable {
  /// One presence: a key, which several may share, and a reference of its own.
  struct Entry: Sendable, Hashable {
    let topic: String
    let key: String
    let ref: String
    /// A JSON object with `phx_ref`.
    let meta: String
  }

  let database: any Database
  static let listedMax = 100

  /// Adds a presence, after others of its topic that are being added at the same time on any replica.
  ///
  /// - Parameter old: the reference that the new one takes the place of.
  /// - Returns: false when as many are present as can be listed.
  func add(_ entry: Entry, insteadOf old: String?, by replica: String) async throws -> Bool {
    try await database.write { [engine = database.engine] db in
      // A topic has no row that could be locked. SQLite runs one transaction at a time.
      let lock = "presence on \(entry.topic)"
      if engine == .postgres { try db.enqueue("select pg_advisory_xact_lock(hashtextextended(\(lock), 0))") }
      if let old { try db.change("delete from presence where ref = \(old)") }
      let added = try db.change(
        """
        insert into presence (ref, topic, key, meta, replica)
        select \(entry.ref), \(entry.topic), \(entry.key), \(entry.meta), \(replica)
        where (select count(*) from presence where topic = \(entry.topic)) < \(Self.listedMax)
        """)
      return added == 1
    }
  }

  /// Adds presences that were added before, whatever the limit. Safe to repeat.
  ///
  /// - Returns: those that were missing.
  func restore(_ entries: some Sequence<Entry> & Sendable, by replica: String) async throws -> [Entry] {
    try await database.write { db in
      try entries.filter { entry in
        try db.change(
          """
          insert into presence (ref, topic, key, meta, replica)
          values (\(entry.ref), \(entry.topic), \(entry.key), \(entry.meta), \(replica))
          on conflict (ref) do nothing
          """) == 1
      }
    }
  }

  func remove(_ ref: String) async throws {
    try await database.write { try $0.change("delete from presence where ref = \(ref)") }
  }

  func entries(of topic: String, at now: Date) async throws -> [Entry] {
    try await database.readOnce { db in
      try db.rows(
        """
        select presence.topic, presence.key, presence.ref, presence.meta
        from presence join presence_replica on presence_replica.id = presence.replica
        where presence.topic = \(topic) and presence_replica.expires_at > \(now)
        order by presence.ref limit \(Self.listedMax)
        """
      ).map(Entry.init)
    }
  }

  /// Removes who was present on replicas that have ended.
  static func remove(of ended: [String], limit: Int, on db: any Connection) throws -> [Entry] {
    try db.rows(
      """
      delete from presence where ref in (
        select ref from presence where replica in (\(list: ended)) order by ref limit \(limit))
      returning topic, key, ref, meta
      """
    ).map(Entry.init)
  }
}

extension PresenceStore.Entry {
  fileprivate init(_ row: Row) throws {
    self.init(
      topic: try row.get("topic"), key: try row.get("key"), ref: try row.get("ref"), meta: try row.get("meta"))
  }

  /// The payload of `presence_diff`; both members must be there.
  static func diff(joins: [Self], leaves: [Self]) -> String {
    #"{"joins":\#(state(joins)),"leaves":\#(state(leaves))}"#
  }

  /// `{key:{metas:[…]}}`
  static func state(_ entries: [Self]) -> String {
    let keys = Dictionary(grouping: entries, by: \.key).sorted { $0.key < $1.key }.map { key, entries in
      #"\#(PhoenixFrame.quoted(key)):{"metas":[\#(entries.map(\.meta).joined(separator: ","))]}"#
    }
    return "{\(keys.joined(separator: ","))}"
  }
}
