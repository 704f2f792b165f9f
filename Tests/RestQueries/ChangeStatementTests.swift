import Database
import Foundation
import Testing
import Wire

@testable import RestQueries

/// The statements of writes: what they touch is what their caller sees and may change, however it is asked for.
@Suite struct ChangeStatementTests {
  private static let key = UserID.new(at: Date()).description
  private let caller = Caller(UserID.new(at: Date()), at: Date())

  /// A request that changes rows, and how the statement begins, or what it has, that decides which rows these are.
  private struct Change {
    let method: RestRequest.Method
    var query = "id=eq.\(ChangeStatementTests.key)"
    var preference = "return=minimal"
    var body = ""
    let decidedBy: String
  }

  @Test(arguments: Engine.allCases) func everyChangeHasTheRulesOfItsTable(engine: Engine) throws {
    for (name, source, column) in [("places", "place", "name"), ("notes", "note", "text")] {
      let (update, delete) = ("update \(source) as t0 ", "delete from \(source) as t0 ")
      let body = #"{"\#(column)":"x"}"#
      let row = #"{"id":"\#(Self.key)","\#(column)":"x"}"#
      let (shown, page) = ("return=representation", "id=eq.\(Self.key)&order=id&limit=1")
      let changes = [
        Change(method: .patch, body: body, decidedBy: update),
        Change(method: .patch, query: "id=eq.\(Self.key)&select=id", preference: shown, body: body, decidedBy: update),
        Change(method: .patch, query: page, body: body, decidedBy: update),
        Change(method: .delete, decidedBy: delete),
        Change(method: .delete, query: page, decidedBy: delete),
        Change(method: .delete, query: "id=eq.\(Self.key)&select=id", preference: shown, decidedBy: update),
        Change(
          method: .post, query: "", preference: "resolution=merge-duplicates", body: row,
          decidedBy: "insert into \(source) as t0 "),
      ]
      for change in changes { try expectRules(in: change, of: name, Places.schema, engine) }
    }
    let row = #"{"id":"\#(Self.key)","name":"x","code":"c"}"#
    let merge = "resolution=merge-duplicates"
    for change in [
      Change(method: .put, body: row, decidedBy: "insert into place as t0 "),
      Change(
        method: .post, query: "on_conflict=user_id,code", preference: merge, body: row,
        decidedBy: "insert into place as t0 "),
    ] {
      try expectRules(in: change, of: "places", Places.schema, engine)
    }
  }

  /// Where the service writes itself, the rules are in the statement that chooses the rows for it.
  @Test(arguments: Engine.allCases) func everyChoiceOfRowsForAServiceHasTheRules(engine: Engine) throws {
    let chosen = "select t0.id from trip t0"
    for change in [
      Change(method: .patch, body: #"{"name":"x"}"#, decidedBy: chosen), Change(method: .delete, decidedBy: chosen),
      Change(
        method: .post, query: "", preference: "resolution=merge-duplicates",
        body: #"{"id":"\#(Self.key)","name":"x"}"#, decidedBy: "as may_be_changed"),
    ] {
      try expectRules(in: change, of: "trips", Trips.schema, engine)
    }
  }

  /// A condition on an embedded table asks for its rows that the caller sees.
  @Test(arguments: Engine.allCases) func anEmbeddedTableOfAChangeHasItsRule(engine: Engine) throws {
    let query = "select=id,notes!inner(text)&id=eq.\(Self.key)"
    for change in [
      Change(method: .patch, query: query, body: #"{"name":"x"}"#, decidedBy: "update place as t0 "),
      Change(method: .delete, query: query, decidedBy: "delete from place as t0 "),
    ] {
      try expectRules(in: change, of: "places", Places.schema, engine)
      let statements = try statements(of: change, of: "places", Places.schema, engine)
      let rule = Self.text(Places.note.access.sees(RowName(alias: "t1"), caller))
      #expect(statements.contains { $0.hasPrefix(change.decidedBy) && $0.contains("(\(rule))") }, "\(statements)")
    }
  }

  /// A page of rows is chosen and changed under the same rules.
  private func expectRules(in change: Change, of name: String, _ schema: RestSchema, _ engine: Engine) throws {
    let table = try schema.table(name)
    let row = RowName(alias: "t0")
    let rule = try #require(change.method == .delete ? table.access.deletes : table.access.updates)
    let (sees, may) = (Self.text(table.access.sees(row, caller)), Self.text(rule(row, caller)))
    let times = (change.query.contains("limit") ? 2 : 1) * (sees == may ? 2 : 1)
    let statements = try statements(of: change, of: name, schema, engine)
    let deciding = statements.filter { $0.contains(change.decidedBy) }
    #expect(deciding.count == 1, "\(change): \(statements)")
    for statement in deciding {
      for part in [sees, may] {
        #expect(statement.components(separatedBy: "(\(part))").count - 1 >= times, "\(change): \(statement)")
      }
    }
  }

  private func statements(
    of change: Change, of name: String, _ schema: RestSchema, _ engine: Engine
  ) throws -> [String] {
    let request = RestRequest(
      change.method, name, query: change.query, prefer: [change.preference], body: Array(change.body.utf8))
    let connection = RecordingConnection(key: Self.key)
    _ = try RestOperation(request, in: schema).answer(for: caller, on: connection, engine)
    return connection.statements.map(Self.text)
  }

  /// Without the numbers of the placeholders, which depend on what is before them.
  private static func text(_ statement: SQL) -> String {
    statement.text.replacingOccurrences(of: #"\$[0-9]+"#, with: #"\$"#, options: .regularExpression)
  }
}

/// A connection that has one row for every statement, with that key.
private final class RecordingConnection: Connection {
  private(set) var statements: [SQL] = []
  private let key: String

  init(key: String) { self.key = key }

  func rows(_ sql: SQL) throws -> [Row] {
    statements.append(sql)
    if sql.text.contains("count(*) as total") { return [Row(columns: ["total"], values: [.integer(1)])] }
    if sql.text.contains("as may_be_changed") {
      return [Row(columns: ["key", "may_be_changed"], values: [.text(key), .integer(1)])]
    }
    return [Row(columns: ["key", "c0"], values: [.text(key), .text(key)])]
  }

  func change(_ sql: SQL) throws -> Int {
    statements.append(sql)
    return 1
  }
}
