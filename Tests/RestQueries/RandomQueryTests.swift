import Database
import Foundation
import RestQueries
import Support
import Testing
import Wire

/// Random queries on random data, compared with a model in plain Swift.
@Suite struct RandomQueryTests {
  private static let seed: UInt64 = 20
  private static let queryCount = 10_000
  private static let batchSize = 500

  @Test(arguments: engines) func tenThousandRandomQueriesAnswerLikeTheModel(engine: Engine) async throws {
    try await PlacesApp.with(engine) { app in
      try await app.database.write { try $0.change("drop index place_code") }
      let data = try await ModelData.insert(60, for: app, seed: Self.seed)
      #expect(data.places.count > 30)
      var random = ModelConditions(random: SeededRandom(seed: Self.seed + 1))
      var foundCount = 0
      for _ in 0..<(Self.queryCount / Self.batchSize) {
        let queries = (0..<Self.batchSize).map { _ in
          let query = ModelQuery(&random)
          let (json, total) = query.answer(data)
          return Expected(
            table: query.table, text: query.text, range: query.range, json: json, total: total, offset: query.offset)
        }
        let caller = Caller(app.alice, at: app.now)
        let differences = try await app.database.read { db in
          try queries.compactMap { try $0.difference(for: caller, on: db, engine) }
        }
        #expect(differences.isEmpty, "\(differences.prefix(3))")
        guard differences.isEmpty else { return }
        foundCount += queries.reduce(0) { $0 + $1.total }
      }
      // The queries are not all too narrow to find anything.
      #expect(foundCount > Self.queryCount)
    }
  }

  private struct Expected: Sendable {
    let table: String
    let text: String
    let range: String?
    let json: String
    let total: Int
    let offset: Int

    func difference(for caller: Caller, on db: any Connection, _ engine: Engine) throws -> String? {
      let request = RestRequest(.get, table, query: text, prefer: ["count=exact"], range: range)
      do {
        let answer = try RestOperation(request, in: Places.schema).answer(for: caller, on: db, engine)
        let counted = answer.header("content-range")?.split(separator: "/").last.map(String.init)
        return answer.text == json && counted == String(total) ? nil : "\(table) \(text)\n\(answer.text)\n\(json)"
      } catch let failure as RestFailure {
        // An offset past the end, which is refused where the rows are counted.
        return failure.code == "PGRST103" && offset > total ? nil : "\(table) \(text)\n\(failure)"
      }
    }
  }
}
