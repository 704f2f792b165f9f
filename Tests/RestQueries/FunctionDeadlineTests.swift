import Database
import Foundation
import RestQueries
import Support
import Testing

/// Functions on SQLite whose time grows with the product of a row and a query: they end with their statement.
@Suite struct FunctionDeadlineTests {
  /// Each would take some ten seconds, and much longer in a debug build.
  private static let slow: [SQL] = [
    // Each value of the one is equal to the last of the other, and is compared with all before it.
    "select rest_json_contains(\(numbers("1.5", 20_000, last: "2.5")), \(numbers("2.50", 490)))",
    "select rest_json_contains(\(numbers("1.5", 490, last: "2.5")), \(numbers("2.50", 20_000)))",
    "select rest_json_equals(\(members(20_000)), \(members(20_000, isReversed: true)))",
    "select rest_matches(\(String(repeating: "a", count: 250_000)), \("((a{1,40}){1,3}|b)c"), 1)",
  ]

  private static func numbers(_ number: String, _ count: Int, last: String? = nil) -> String {
    let numbers = Array(repeating: number, count: count) + (last.map { [$0] } ?? [])
    return "[\(numbers.joined(separator: ","))]"
  }

  private static func members(_ count: Int, isReversed: Bool = false) -> String {
    let members = (0..<count).map { #""some name that is long \#($0)":1"# }
    return "{\((isReversed ? members.reversed() : members).joined(separator: ","))}"
  }

  @Test func whatTakesTooLongIsEnded() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let database = try SQLite(
        path: testDatabase.folder.appending(path: "functions.db").path, service: "functions",
        functions: RestFunctions.all, statementTimeout: .seconds(1))
      for statement in Self.slow {
        let isSoon = await isDone(within: .seconds(6)) {
          let failure = await #expect(throws: DatabaseFailure.self) {
            _ = try await database.readOnce { try $0.rows(statement) }
          }
          #expect(failure?.isTransient == true, "\(statement.text): \(String(describing: failure))")
        }
        #expect(isSoon, "\(statement.text)")
      }
      // The connection is used again.
      let found = try await database.readOnce { try $0.row("select rest_json_contains('[1,2]', '2') as found") }
      #expect(try found?.get("found", as: Bool.self) == true)
      await database.close()
    }
  }
}
