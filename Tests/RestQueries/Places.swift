import Database
import Foundation
import RestQueries
import Support
import Wire

/// Tables of a small app: places and their notes, trips with members, which the tests declare, fill and ask for.
enum Places {
  static let migrations = [
    Migration(
      "tables",
      """
      create table place (
        id uuid primary key,
        user_id uuid not null,
        name text not null,
        stars integer not null default 3,
        latitude double precision,
        is_open boolean not null default true,
        seen_at timestamptz,
        visited_on date,
        details text,
        tags jsonb not null default '[]',
        code text,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        constraint place_name_length check (length(name) between 1 and 100)
      );
      create unique index place_code on place (user_id, code);
      create table note (
        id uuid primary key,
        place_id uuid not null references place (id) on delete cascade,
        user_id uuid not null,
        text text not null,
        points integer not null default 0,
        is_secret boolean not null default false,
        created_at timestamptz not null
      );
      """)
  ]

  static let database = ServiceSchema("places", migrations, sqliteFunctions: RestFunctions.all)

  static let place = Table(
    "places", from: "place",
    columns: [
      Column("id", .uuid, .key), Column("user_id", .uuid, .owner), Column("name", .text), Column("stars", .integer),
      Column("latitude", .number), Column("is_open", .boolean), Column("seen_at", .timestamp),
      Column("visited_on", .date), Column("details", .json), Column("tags", .textArray), Column("code", .text),
      Column("created_at", .timestamp, .createdAt), Column("updated_at", .timestamp, .updatedAt),
      Column("note_count", .integer) { place, _ in "select count(*) from note n where n.place_id = \(place.id)" },
    ],
    relations: [.many("notes", by: "place_id")],
    unique: [["user_id", "code"]], isReplaceable: true,
    // Whoever has written a note at a place is a guest there, and sees it.
    access: Access(
      sees: { place, caller in
        """
        \(place.user_id) = \(caller.id) or \(place.is_open) and exists \
        (select 1 from note g where g.place_id = \(place.id) and g.user_id = \(caller.id))
        """
      },
      inserts: owns, updates: owns, deletes: owns))

  static let note = Table(
    "notes", from: "note",
    columns: [
      Column("id", .uuid, .key), Column("place_id", .uuid, .onInsert), Column("user_id", .uuid, .owner),
      Column("text", .text), Column("points", .integer, .onInsert), Column("is_secret", .boolean),
      Column("created_at", .timestamp, .createdAt),
    ],
    relations: [.one("places", by: "place_id")],
    access: Access(
      sees: { note, caller in
        """
        \(note.user_id) = \(caller.id) or not \(note.is_secret) and exists \
        (select 1 from place p where p.id = \(note.place_id) and p.user_id = \(caller.id))
        """
      },
      inserts: { note, caller in
        "exists (select 1 from place p where p.id = \(note.place_id) and (p.is_open or p.user_id = \(caller.id)))"
      },
      updates: { note, caller in "\(note.user_id) = \(caller.id)" },
      deletes: { note, caller in "\(note.user_id) = \(caller.id)" }))

  /// A view: how many points each place has.
  static let score = Table(
    "place_scores",
    from: """
      (select p.id, p.user_id, p.name, coalesce(sum(n.points), 0) as points
      from place p left join note n on n.place_id = p.id group by p.id, p.user_id, p.name)
      """,
    columns: [Column("id", .uuid, .never), Column("name", .text, .never), Column("points", .integer, .never)],
    access: Access(sees: { score, caller in "\(score.user_id) = \(caller.id)" }))

  static let schema = RestSchema(place, note, score)

  private static let owns: RowExpression = { row, caller in "\(row.user_id) = \(caller.id)" }
}

/// The database of one test, and the people who ask.
struct PlacesApp: Sendable {
  let database: any Database
  let alice = UserID.new(at: Date())
  let bob = UserID.new(at: Date())
  let now = Date(timeIntervalSince1970: 1_800_000_000.25)

  static func with(
    _ engine: Engine, connections: Int = 6, _ body: (PlacesApp) async throws -> Void
  ) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let app = PlacesApp(database: try await testDatabase.open(Places.database, connections: connections))
      try await body(app)
      await app.database.close()
    }
  }

  func send(_ request: RestRequest, as user: UserID? = nil) async throws -> RestAnswer {
    try await Places.schema.answer(request, for: Caller(user ?? alice, at: now), in: database)
  }

  /// The body of a GET.
  func get(
    _ table: String = "places", _ query: String, as user: UserID? = nil, accept: String? = nil
  ) async throws -> String {
    let request = RestRequest(.get, table, query: query, accept: accept)
    return String(decoding: try await send(request, as: user).body, as: UTF8.self)
  }

  @discardableResult
  func post(
    _ table: String = "places", _ json: String, _ query: String = "", prefer: String? = nil, as user: UserID? = nil
  ) async throws -> RestAnswer {
    try await send(
      RestRequest(
        .post, table, query: query, prefer: prefer.map { [$0] } ?? [], body: Array(json.utf8)), as: user)
  }

  @discardableResult
  func patch(
    _ table: String = "places", _ query: String, _ json: String, prefer: String? = nil, as user: UserID? = nil
  ) async throws -> RestAnswer {
    try await send(
      RestRequest(
        .patch, table, query: query, prefer: prefer.map { [$0] } ?? [], body: Array(json.utf8)), as: user)
  }

  @discardableResult
  func delete(
    _ table: String = "places", _ query: String, prefer: String? = nil, as user: UserID? = nil
  ) async throws -> RestAnswer {
    try await send(RestRequest(.delete, table, query: query, prefer: prefer.map { [$0] } ?? []), as: user)
  }

  /// The status and the range of a GET or HEAD.
  func contentRange(
    _ query: String, prefer: String? = nil, range: String? = nil, method: RestRequest.Method = .get
  ) async throws -> String {
    let answer = try await send(
      RestRequest(method, "places", query: query, prefer: prefer.map { [$0] } ?? [], range: range, rangeUnit: "items"))
    guard method == .get || answer.body.isEmpty else { return "a HEAD with a body" }
    return "\(answer.status) \(answer.header("content-range") ?? "")"
  }

  /// The code with which a request is refused; nil when it is not.
  func code(_ request: RestRequest, as user: UserID? = nil) async throws -> String? {
    try await failure(request, as: user)?.code
  }

  func failure(_ request: RestRequest, as user: UserID? = nil) async throws -> RestFailure? {
    do {
      _ = try await send(request, as: user)
      return nil
    } catch let failure as RestFailure {
      return failure
    }
  }
}

extension RestAnswer {
  var text: String { String(decoding: body, as: UTF8.self) }
}
