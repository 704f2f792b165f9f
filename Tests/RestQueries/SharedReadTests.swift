import Database
import Foundation
import Support
import Testing
import Wire

@testable import RestQueries

/// Reads of the caller's own rows, which share round trips with those of others on PostgreSQL.
@Suite struct SharedReadTests {
  @Test(arguments: engines) func everyReaderGetsTheirOwnRows(engine: Engine) async throws {
    // All reads wait for the one connection: those that wait together share a round trip.
    try await Memos.with(engine, connections: 1) { memos in
      let people = (0..<12).map { _ in UserID.new(at: memos.now) }
      for (index, user) in people.enumerated() {
        try await memos.insert((0...index).map { "\(user) \($0)" }, of: user)
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for round in 0..<10 {
          for (index, user) in people.enumerated() {
            group.addTask {
              let answer = try await memos.get("user_id=eq.\(user)&order=stars.desc&offset=\(round % 2)", of: user)
              let expected = (0...index).reversed().dropFirst(round % 2).map { "\(user) \($0)" }
              #expect(try answer.texts() == expected)
            }
          }
        }
        try await group.waitForAll()
      }
    }
  }

  /// There is one row more than a shared read may have.
  @Test(arguments: engines) func aReadOfManyRowsHasAllOfThem(engine: Engine) async throws {
    try await Memos.with(engine) { memos in
      let texts = (0...SharedPage.rowsMax).map { "memo \($0)" }
      try await memos.insert(texts, of: memos.alice)
      for (query, expected) in [
        ("", texts[...]), ("limit=100", texts[..<100]), ("limit=101", texts[...]), ("limit=1000", texts[...]),
        ("offset=1", texts[1...]), ("limit=7&offset=90", texts[90..<97]), ("limit=0", []), ("stars=lt.3", texts[..<3]),
      ] {
        let ordered = query.isEmpty ? "order=stars" : "\(query)&order=stars"
        let answer = try await memos.get(ordered, of: memos.alice)
        #expect(try answer.texts() == Array(expected), "\(query)")
        let range = expected.isEmpty ? "*" : "\(expected.startIndex)-\(expected.endIndex - 1)"
        #expect(answer.header("content-range") == "\(range)/*", "\(query)")
      }
    }
  }

  /// In bytes, wherever the row is with which they become too many.
  @Test(
    arguments: engines,
    [
      [40_000, 40_000], [10, SharedPage.bytesMax - 10 - 4], [10, SharedPage.bytesMax - 10 - 3], [200_000],
      [200_000, 10],
      [10, 10, 200_000], Array(repeating: 1_500, count: 60),
    ])
  func aReadOfLargeRowsHasAllOfThem(engine: Engine, sizes: [Int]) async throws {
    try await Memos.with(engine) { memos in
      // `é` has two bytes.
      let texts = sizes.map { String(repeating: "é", count: $0 / 2) + String(repeating: "e", count: $0 % 2) }
      try await memos.insert(texts, of: memos.alice)
      let answer = try await memos.get("order=stars", of: memos.alice)
      #expect(try answer.texts() == texts)
      guard engine == .postgres else { return }
      // The two characters of `{}` belong to each row.
      let isShared = sizes.reduce(0) { $0 + $1 + 2 } <= SharedPage.bytesMax
      let shared = try await memos.operation("order=stars").sharedAnswer(
        for: memos.caller(memos.alice), in: memos.database)
      #expect((shared != nil) == isShared)
    }
  }

  @Test(arguments: engines) func onlyBriefReadsAreShared(engine: Engine) async throws {
    let filters = { (count: Int) in
      // In parts of parts, too.
      "stars=gt.0&or=(not.and(\((1..<count).map { "stars.gt.\($0)" }.joined(separator: ","))))"
    }
    try await Memos.with(engine) { memos in
      try await memos.insert(["first", "second"], of: memos.alice)
      let caller = memos.caller(memos.alice)
      for (query, isBrief) in [
        ("", true), ("select=*", true), ("user_id=eq.\(memos.alice)", true), ("id=in.(\(memos.alice))", true),
        ("or=(stars.gt.1,and(text.eq.first,is_open.is.true))", true), ("order=created_at.desc&limit=5", true),
        ("text=not.is.null", true), ("select=text", false), ("select=*,text", false), ("select=count()", false),
        ("text=like.f*", false), ("text=imatch.f", false), ("or=(stars.gt.1,text.ilike.f*)", false),
        ("text=eq(any).{first}", false), ("details->>a=eq.1", false), ("details=eq.{}", false), ("tags=cs.{a}", false),
        ("order=details->a", false), ("not.and=(tags.ov.{a},stars.eq.1)", false),
        (filters(SharedPage.comparisonsMax), true), (filters(SharedPage.comparisonsMax + 1), false),
        ("stars=in.(1,2,3,4,5,6,7,8)", true), ("stars=in.(1,2,3,4,5,6,7,8,9)", false),
        ("stars=in.(1,2,3,4,5,6,7,8)&text=eq.a", false),
      ] {
        let shared = try await memos.operation(query).sharedAnswer(for: caller, in: memos.database)
        #expect((shared != nil) == (isBrief && engine == .postgres), "\(query)")
      }
      for (method, prefer) in [(RestRequest.Method.head, []), (.get, ["count=exact"])] {
        let request = RestRequest(method, "memos", query: "", prefer: prefer)
        let operation = try RestOperation(request, in: Memos.schema)
        #expect(try await operation.sharedAnswer(for: caller, in: memos.database) == nil)
      }
      // Rows that others see, too.
      let notices = try RestOperation(RestRequest(.get, "notices", query: ""), in: Memos.schema)
      #expect(try await notices.sharedAnswer(for: caller, in: memos.database) == nil)
    }
  }

  /// One at a time and many at once, with the same answers and refusals.
  @Test(arguments: engines) func aSharedReadAnswersLikeOneAlone(engine: Engine) async throws {
    try await Memos.with(engine, connections: 2) { memos in
      try await memos.insert((0..<40).map { "memo \($0 % 7)" }, of: memos.alice)
      try await memos.insert((0..<5).map { "memo \($0)" }, of: memos.bob)
      var random = SeededRandom(seed: 24)
      let queries = (0..<400).map { _ in Memos.query(&random) }
      let alone = try await memos.database.read { db in
        try queries.map { try memos.operation($0).answer(for: memos.caller(memos.alice), on: db, engine) }
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (query, expected) in zip(queries, alone) {
          group.addTask {
            let answer = try await memos.get(query, of: memos.alice)
            #expect(answer.body == expected.body && answer.status == expected.status, "\(query)")
            #expect(answer.header("content-range") == expected.header("content-range"), "\(query)")
          }
          // An object is refused where there is not one row.
          group.addTask {
            let request = RestRequest(.get, "memos", query: query, accept: "application/vnd.pgrst.object+json")
            let operation = try RestOperation(request, in: Memos.schema)
            let isSingle = try JSON.decode([MemoText].self, from: Data(expected.body)).count == 1
            do {
              _ = try await operation.read(for: memos.caller(memos.alice), in: memos.database)
              #expect(isSingle, "\(query)")
            } catch let failure as RestFailure { #expect(!isSingle && failure.code == "PGRST116", "\(query)") }
          }
        }
        try await group.waitForAll()
      }
    }
  }
}

private struct MemoText: Decodable {
  let text: String
}

extension RestAnswer {
  fileprivate func texts() throws -> [String] { try JSON.decode([MemoText].self, from: Data(body)).map(\.text) }
}

/// Notes to oneself, and notices for all.
private struct Memos: Sendable {
  let database: any Database
  let alice = UserID.new(at: Date())
  let bob = UserID.new(at: Date())
  let now = Date(timeIntervalSince1970: 1_800_000_000)

  static let columns = [
    Column("id", .uuid, .key), Column("user_id", .uuid, .owner), Column("text", .text), Column("stars", .integer),
    Column("is_open", .boolean), Column("details", .json), Column("tags", .textArray),
    Column("created_at", .timestamp, .createdAt),
  ]
  static let schema = RestSchema(
    Table(
      "memos", from: "memo", columns: columns, access: .ownersOnly { memo, caller in "\(memo.user_id) = \(caller.id)" }),
    Table("notices", from: "memo", columns: columns, access: Access(sees: { _, _ in "true" })))

  private static let migration = Migration(
    "memos",
    """
    create table memo (
      id uuid primary key, user_id uuid not null, text text not null, stars bigint not null, is_open boolean not null,
      details text, tags text, created_at timestamptz not null
    );
    create index memo_user on memo (user_id, id);
    """)

  static func with(_ engine: Engine, connections: Int = 6, _ body: (Memos) async throws -> Void) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let schema = ServiceSchema("memos", [migration], sqliteFunctions: RestFunctions.all)
      let memos = Memos(database: try await testDatabase.open(schema, connections: connections))
      try await body(memos)
      await memos.database.close()
    }
  }

  /// The number of its memo is the number of stars of each.
  func insert(_ texts: [String], of user: UserID) async throws {
    try await database.write { db in
      for (number, text) in texts.enumerated() {
        try db.change(
          """
          insert into memo (id, user_id, text, stars, is_open, details, created_at) values (\(UserID.new(at: now)),
            \(user), \(text), \(number), \(number.isMultiple(of: 2)), '{}', \(now.addingTimeInterval(Double(number))))
          """)
      }
    }
  }

  func caller(_ user: UserID) -> Caller { Caller(user, at: now) }

  func operation(_ query: String) throws -> RestOperation {
    try RestOperation(RestRequest(.get, "memos", query: query), in: Self.schema)
  }

  func get(_ query: String, of user: UserID) async throws -> RestAnswer {
    try await operation(query).read(for: caller(user), in: database)
  }

  /// A query that can be shared.
  static func query(_ random: inout SeededRandom) -> String {
    let stars = Int.random(in: -1...41, using: &random)
    let conditions = [
      "stars=gt.\(stars)", "stars=in.(\(stars),3,5)", "stars=not.lte.\(stars)", "text=eq.memo \(stars % 7)",
      "is_open=is.true", "or=(stars.eq.\(stars),text.gte.memo 5)", "not.and=(stars.lt.\(stars),is_open.is.false)",
      "created_at=gte.2027-01-15T08:00:10Z", "text=neq.memo 1",
    ].shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random))
    let order = ["", "order=stars.desc", "order=text,stars.desc", "order=is_open.desc,created_at"]
    let page = [
      "", "limit=\(Int.random(in: 0...9, using: &random))", "offset=\(Int.random(in: 0...9, using: &random))",
    ]
    return (conditions + [order, page].map { $0[Int.random(in: 0..<$0.count, using: &random)] })
      .filter { !$0.isEmpty }.joined(separator: "&")
  }
}
