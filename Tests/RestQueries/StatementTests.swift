import Database
import Foundation
import Support
import Testing
import Wire

@testable import RestQueries

/// The statements themselves: how they are composed, and what no read lacks.
@Suite struct StatementTests {
  @Test func partsOfAStatementAreNumberedAnew() {
    let inner: SQL = "a = \("one") or b = \(2)"
    let outer: SQL = "select \(0) where (\(inner)) and c = \("three") and (\(inner))\(" order by 1" as SQL)"
    #expect(outer.text == "select $1 where (a = $2 or b = $3) and c = $4 and (a = $5 or b = $6) order by 1")
    #expect(
      outer.bindings == [0.binding, "one".binding, 2.binding, "three".binding, "one".binding, 2.binding])
    // A dollar in a literal is no placeholder, and one beside a placeholder stays where it is.
    let price: SQL = "'é $1' || \("x") || '$2'"
    #expect(("select \(7), \(price)" as SQL).text == "select $1, 'é $1' || $2 || '$2'")
    #expect(outer.preceded(by: "explain").text.hasPrefix("explain select $1 where (a = $2"))
    // A placeholder of several digits is one.
    let eleven = SQL.joined((1...11).map { number -> SQL in "\(number)" }, by: ", ")
    let all: SQL = "select \(0), \(eleven), \(eleven)"
    #expect(all.text == "select " + (1...23).map { "$\($0)" }.joined(separator: ", "))
    #expect(all.bindings == ([0] + Array(1...11) + Array(1...11)).map(\.binding))
    #expect(outer.isRepeated && !outer.composedForRequest.isRepeated)
  }

  /// The columns of `*` are composed once: it is the same statement as with all of their names.
  @Test(arguments: Engine.allCases) func aStatementWithAllColumnsNamesThem(engine: Engine) throws {
    let rule: RowExpression = { row, caller in "\(row.owner_id) = \(caller.id)" }
    let stored = Table(
      "gifts", from: "gift",
      columns: [
        Column("id", .uuid, .key), Column("user_id", .uuid, .owner, stored: "owner_id"), Column("what", .json),
      ],
      access: Access(sees: rule))
    let computed = Table(
      "gifts", from: "gift",
      columns: [Column("id", .uuid, .key), Column("mine", .boolean, computed: rule), Column("what", .json)],
      access: Access(sees: rule))
    let writer = StatementWriter(engine: engine, caller: Caller(UserID.new(at: Date()), at: Date()))
    for table in [stored, computed] {
      func statement(_ query: String, isKeyed: Bool = false) throws -> SQL {
        try writer.select(try Resource(try Query(parsing: query), of: table, in: RestSchema(table)), isKeyed: isKeyed)
      }
      let names = table.columns.map(\.name).joined(separator: ",")
      for isKeyed in [false, true] {
        let (all, named) = (try statement("", isKeyed: isKeyed), try statement("select=\(names)", isKeyed: isKeyed))
        #expect(all.text == named.text && all.bindings == named.bindings)
        #expect(try statement("select=*", isKeyed: isKeyed).text == named.text)
      }
      #expect(try statement("select=*,id").text.contains("t0.id as c3"))
      #expect(try statement("select=*,*").text.contains("t0.id as c3"))
    }
  }

  /// Each table of a statement, however deep, is preceded by no condition but followed by that of who sees it.
  @Test(arguments: Engine.allCases) func everyTableOfAStatementHasItsRule(engine: Engine) throws {
    let caller = Caller(UserID.new(at: Date()), at: Date())
    let writer = StatementWriter(engine: engine, caller: caller)
    for (text, places, notes) in [
      ("", 1, 0), ("select=count", 1, 0), ("select=name,notes(text)", 1, 1),
      ("select=notes!inner(text)", 1, 2),
      ("select=name,notes()&notes=is.null", 1, 1), ("or=(name.eq.a,name.neq.a)", 1, 0),
    ] {
      let resource = try Resource(try Query(parsing: text), of: Places.place, in: Places.schema)
      for statement in [try writer.select(resource), try writer.count(resource)] {
        func count(_ part: String) -> Int { statement.text.components(separatedBy: part).count - 1 }
        // The rule of a place has one open guest's note in it, that of a note one place's owner.
        let (placesRead, notesRead) = (count("from place t"), count("from note t"))
        #expect(count("from note g where g.place_id = t") == placesRead, "\(text)")
        #expect(count("from place p where p.id = t") == notesRead, "\(text)")
        #expect(placesRead <= places && notesRead <= notes && placesRead > 0, "\(text): \(placesRead) \(notesRead)")
        #expect(!statement.text.contains("'a'"))
      }
    }
  }

  @Test(arguments: [
    ("2024-01-15T12:00:00Z", "2024-01-15T12:00:00.000Z"),
    ("2024-01-15 12:00:00.123456+00:00", "2024-01-15T12:00:00.123Z"),
    ("2024-01-15T12:00:00.5", "2024-01-15T12:00:00.500Z"), ("2024-01-15 12:00:00+02", "2024-01-15T10:00:00.000Z"),
    ("2024-01-15T12:00:00-0530", "2024-01-15T17:30:00.000Z"), ("2024-02-29", "2024-02-29T00:00:00.000Z"),
    (" 2024-01-15t12:00z ", "2024-01-15T12:00:00.000Z"), ("9999-12-30T23:59:59.999999999Z", "9999-12-30T23:59:59.999Z"),
  ])
  func timesAreReadInTheFormatsOfBothClients(text: String, expected: String) throws {
    #expect(RFC3339.milliseconds(try TimestampText.date(text)) == expected)
  }

  @Test(arguments: [
    "", "now", "2024-02-30", "2023-02-29", "2024-00-10", "2024-01-00", "2024-13-01", "2024-01-15T24:00:00Z",
    "2024-01-15T12:60:00Z",
    "2024-01-15T12:00:60Z", "2024-01-15T12:00:00.Z", "2024-01-15T12:00:00+16:00", "2024-1-15", "2024-01-15T12",
    "20240115T120000Z",
    "2024-01-15T12:00:00Zx", "٢٠٢٤-01-15", "1500-01-01", "9999-12-31T23:00:00-15:00",
  ])
  func otherTextsAreNoTimes(text: String) {
    let failure = #expect(throws: RestFailure.self) { try TimestampText.date(text) }
    #expect(failure?.code == "22007" || failure?.code == "22008")
  }

  @Test func aRelationThatIsNotTheOnlyOneNeedsAHint() throws {
    let everything: RowExpression = { _, _ in "true" }
    let person = Table("people", from: "person", columns: [Column("id", .uuid, .key)], access: Access(sees: everything))
    let gift = Table(
      "gifts", from: "gift",
      columns: [Column("id", .uuid, .key), Column("giver_id", .uuid, .owner), Column("taker_id", .uuid)],
      relations: [.one("people", by: "giver_id"), .one("people", by: "taker_id")], access: Access(sees: everything))
    let schema = RestSchema(person, gift)
    func resource(_ query: String) throws -> Resource { try Resource(try Query(parsing: query), of: gift, in: schema) }
    let failure = #expect(throws: RestFailure.self) { try resource("select=people(id)") }
    #expect(failure?.code == "PGRST201" && failure?.status == 300)
    #expect(failure?.hint?.contains("people!giver_id") == true)
    #expect(try resource("select=people!taker_id(id)").embeds.first?.relation.column == "taker_id")
    #expect(try resource("select=from:giver_id(id),to:taker_id(id)").embeds.map(\.name) == ["from", "to"])
  }
}
