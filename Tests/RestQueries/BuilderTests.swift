import Database
import Foundation
import RestQueries
import Support
import Testing
import Wire

/// The requests that Supabase's builder for Python makes, with the answers that are written beside its calls.
@Suite(.enabled(if: Python.isAvailable)) struct BuilderTests {
  /// A call of the list in `Tests/Python`.
  private struct Built: Decodable {
    let call: String
    let method: String
    let table: String
    let query: String
    let prefer: String?
    let accept: String?
    let contentType: String?
    let profile: String?
    let body: String
    let answer: String

    var request: RestRequest {
      get throws {
        let method = try #require(RestRequest.Method(rawValue: method))
        return RestRequest(
          method, table, query: query, accept: accept, contentType: contentType, prefer: prefer.map { [$0] } ?? [],
          body: Array(body.utf8), profile: profile)
      }
    }
  }

  /// The list fails by itself when it leaves a method of the builder out.
  private static func list() async throws -> [Built] {
    let (code, printed) = try await Python.outcome(
      ofModule: "postgrest_builder", [],
      variables: ["PYTHONPATH": Python.file("").path, "PYTHONDONTWRITEBYTECODE": "1"])
    guard code == 0 else { throw Unexpected(reply: printed) }
    return try JSONDecoder().decode([Built].self, from: Data(printed.utf8))
  }

  @Test func everyCallOfTheBuilderHasItsAnswer() async throws {
    let all = try await Self.list()
    #expect(all.count > 200)
    var outcomes: [[Outcome]] = []
    for engine in engines {
      try await PlacesApp.with(engine) { app in
        try await app.post("places", try Self.places())
        try await app.post("notes", Self.notes)
        outcomes.append(try await Self.outcomes(of: all.map { try $0.request }, in: app, engine))
      }
    }
    for (built, place) in zip(all, all.indices) {
      for (engine, found) in zip(engines, outcomes) {
        #expect(found[place].brief == built.answer, "\(built.call) on \(engine): \(built.query)")
      }
      let both = Set(outcomes.map { $0[place].whole })
      #expect(both.count == 1, "\(built.call): \(built.query)\n\(both.joined(separator: "\n"))")
    }
  }

  /// With ids, by which rows are ordered, that are the same on both engines.
  private static func places() throws -> String {
    guard case .array(let rows) = try JSONReader.tree(of: FilterTests.rows) else { return "[]" }
    return JSONTree.array(
      rows.enumerated().map { index, row in
        guard case .object(let members) = row else { return row }
        return .object(members + [JSONTree.Member(name: "id", value: .string(id(index)))])
      }
    ).text
  }

  private static let notes = #"""
    [{"id":"\#(id(10))","place_id":"\#(id(0))","text":"good","points":3},
     {"id":"\#(id(11))","place_id":"\#(id(0))","text":"better","points":5},
     {"id":"\#(id(12))","place_id":"\#(id(1))","text":"a,b (\"c\") \\ é & d=1 +","points":2},
     {"id":"\#(id(13))","place_id":"\#(id(2))","text":"green","points":1}]
    """#

  /// - Parameter number: of two digits at most.
  private static func id(_ number: Int) -> String {
    "000000\(number / 10)\(number % 10)-0000-7000-8000-000000000000"
  }

  private struct RolledBack: Error {
    let answer: RestAnswer
  }

  /// Each finds the same rows: what it has written is rolled back.
  private static func outcomes(
    of requests: [RestRequest], in app: PlacesApp, _ engine: Engine
  ) async throws -> [Outcome] {
    var outcomes: [Outcome] = []
    for request in requests {
      do {
        try await app.database.write { [caller = Caller(app.alice, at: app.now)] db -> Bool in
          throw RolledBack(answer: try RestOperation(request, in: Places.schema).answer(for: caller, on: db, engine))
        }
      } catch let rolledBack as RolledBack {
        outcomes.append(Outcome(rolledBack.answer))
      } catch let failure as RestFailure {
        outcomes.append(Outcome(failure))
      }
    }
    return outcomes
  }
}

/// What came of a request.
private struct Outcome {
  /// In the words of the list, as `expect` of `postgrest_calls.py` describes them.
  let brief: String
  /// The status, the headers and the rows, or the code.
  let whole: String

  init(_ failure: RestFailure) {
    brief = "\(failure.status) \(failure.code)"
    whole = brief
  }

  init(_ answer: RestAnswer) {
    let status = answer.status == 200 ? "" : String(answer.status)
    let total = answer.header("content-range")?.split(separator: "/").last ?? "*"
    brief = [status, Self.shown(answer.text), total == "*" ? "" : "of \(total)"].filter { !$0.isEmpty }
      .joined(separator: " ")
    let headers = answer.headers.filter { $0.name != "location" }.map { "\($0.name): \($0.value)" }
    whole = (["\(answer.status)"] + headers + Self.rows(of: answer.text)).joined(separator: "\n")
  }

  /// The names of whole rows, and any other body as it is.
  private static func shown(_ body: String) -> String {
    // `try?`: the other bodies are lines of CSV, or there is none.
    guard case .array(let rows)? = try? JSONReader.tree(of: body), !rows.isEmpty,
      rows.allSatisfy({ $0["created_at"] != nil })
    else { return body }
    return rows.map { row in
      if case .string(let name)? = row["name"] { name } else { row.text }
    }.joined(separator: ",")
  }

  /// Ids differ from run to run, and with them the order of rows for which none was asked.
  private static func rows(of body: String) -> [String] {
    let body = body.replacing(/[0-9a-f]{8}-[0-9a-f-]{27}/, with: "id")
    // `try?`: as above.
    guard case .array(let elements)? = try? JSONReader.tree(of: body) else {
      return body.split(separator: "\n").map(String.init).sorted()
    }
    return elements.map(\.text).sorted()
  }
}
