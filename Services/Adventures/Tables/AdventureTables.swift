import RestQueries

/// The tables under `/rest/v1` that this service answers for.
enum AdventureTables {
  static let schema = RestSchema(
    plans, places, hunts, checkpoints, participants, submissions, leaderboard, shares)

  /// For how many seconds clients may show what they have read.
  static let maxAge = [
    plans.name: 1800, hunts.name: 300, checkpoints.name: 300, shares.name: 60,
  ]

  static let owner: RowExpression = { row, caller in "\(row.user_id) = \(caller.id)" }
}

extension Table {
  /// How many rows always fit into an answer: one with JSON may have three megabytes.
  var pageSize: Int { columns.contains { $0.type == .json } ? 5 : 100 }
}

extension AdventureTables {
  static let plans = Table(
    "adventure_plans", from: "adventure_plan",
    columns: [
      Column("id", .uuid, .key), Column("user_id", .uuid, .owner), Column("title", .text), Column("description", .text),
      Column("stops", .json), Column("route_data", .json), Column("status", .text),
      Column("created_at", .timestamp, .createdAt), Column("updated_at", .timestamp, .updatedAt),
    ],
    isReplaceable: true, rowsPerOwnerMax: 1000, access: .ownersOnly(owner))

  static let places = Table(
    "saved_places", from: "saved_place",
    columns: [
      Column("id", .uuid, .key), Column("user_id", .uuid, .owner), Column("name", .text), Column("address", .text),
      Column("latitude", .number), Column("longitude", .number), Column("category", .text),
      Column("place_type", .text) { place, _ in place.category },
      Column("created_at", .timestamp, .createdAt), Column("updated_at", .timestamp, .updatedAt),
    ],
    isReplaceable: true, rowsPerOwnerMax: 5000, access: .ownersOnly(owner))

  static let shares = Table(
    "eta_shares", from: "eta_share",
    columns: [
      Column("id", .uuid, .key), Column("user_id", .uuid, .owner), Column("route_data", .json),
      Column("recipients", .uuidArray),
      Column(
        "is_active", .boolean,
        shown: { share, caller in
          "\(share.is_active) and \(share.expires_at) > \(caller.now)"
        }),
      Column("expires_at", .timestamp), Column("created_at", .timestamp, .createdAt),
      Column("updated_at", .timestamp, .updatedAt),
    ],
    isReplaceable: true, rowsPerOwnerMax: 1000,
    access: Access(
      sees: { share, caller in
        """
        \(share.id) in (select own.id from eta_share own where own.user_id = \(caller.id)
          union all
          select r.share_id from eta_recipient r join eta_share sent on sent.id = r.share_id
          where r.user_id = \(caller.id) and not r.is_hidden and sent.is_active and sent.expires_at > \(caller.now))
        """
      },
      inserts: owner, updates: owner, deletes: owner))
}
