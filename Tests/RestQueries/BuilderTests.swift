import Database
import Foundation
import RestQueries
import Support
import Testing
import Wire

/// The texts that Supabase's builder for Python makes, each of which has to be understood.
@Suite(.enabled(if: Python.isAvailable)) struct BuilderTests {
  private struct Built: Decodable {
    let name: String
    let method: String
    let query: String
    let prefer: String?
    let accept: String?
    let body: String?

    var request: RestRequest {
      get throws {
        let method = try #require(RestRequest.Method(rawValue: method))
        return RestRequest(
          method, "places", query: query, accept: accept, prefer: prefer.map { [$0] } ?? [],
          body: Array((body ?? "").utf8))
      }
    }
  }

  @Test func everyMethodOfTheBuilderIsUnderstood() async throws {
    let printed = try await Python.run(try Python.script("postgrest_builder"))
    let all = try JSONDecoder().decode([Built].self, from: Data(printed.utf8))
    #expect(all.count > 60)
    for built in all {
      #expect(try Self.refusal(of: built.request) == Self.refused[built.name], "\(built.name): \(built.query)")
    }
    #expect(Set(Self.refused.keys).isSubset(of: all.map(\.name)))

    var answers: [[String]] = []
    for engine in engines {
      try await PlacesApp.with(engine) { app in
        try await app.post("places", try Self.rows())
        answers.append(try await Self.answers(all.map { try $0.request }, of: app, engine))
      }
    }
    for (built, place) in zip(all, all.indices) {
      let both = Set(answers.map { $0[place] })
      #expect(both.count == 1, "\(built.name): \(built.query)\n\(both.joined(separator: "\n"))")
      #expect(!both.contains { $0.hasPrefix("5") }, "\(built.name): \(both)")
    }
    #expect(answers.allSatisfy { $0.contains { $0.hasPrefix("200") } && $0.contains { $0.hasPrefix("201") } })
  }

  /// What is left out: full-text search, ranges, and the format of query plans.
  private static let refused = [
    "fts": "PGRST100", "plfts": "PGRST100", "phfts": "PGRST100", "wfts": "PGRST100", "text_search": "PGRST100",
    "sl": "PGRST100", "sr": "PGRST100", "nxl": "PGRST100", "nxr": "PGRST100", "adj": "PGRST100",
    "range_gt": "PGRST100", "range_gte": "PGRST100", "range_lt": "PGRST100", "range_lte": "PGRST100",
    "range_adjacent": "PGRST100", "explain": "PGRST107",
  ]

  /// With ids, by which rows are ordered, that are the same on both engines.
  private static func rows() throws -> String {
    guard case .array(let rows) = try JSONReader.tree(of: FilterTests.rows) else { return "[]" }
    return JSONTree.array(
      rows.enumerated().map { index, row in
        guard case .object(let members) = row else { return row }
        let id = "0000000\(index)-0000-7000-8000-000000000000"
        return .object(members + [JSONTree.Member(name: "id", value: .string(id))])
      }
    ).text
  }

  private struct RolledBack: Error {
    let answer: RestAnswer
  }

  /// Status, code, place and body of each. Each finds the same rows: what it has written is rolled back.
  private static func answers(
    _ requests: [RestRequest], of app: PlacesApp, _ engine: Engine
  ) async throws -> [String] {
    var answers: [String] = []
    for request in requests {
      do {
        try await app.database.write { [caller = Caller(app.alice, at: app.now)] db -> Bool in
          throw RolledBack(answer: try RestOperation(request, in: Places.schema).answer(for: caller, on: db, engine))
        }
      } catch let rolledBack as RolledBack {
        answers.append(text(of: rolledBack.answer))
      } catch let failure as RestFailure {
        answers.append("\(failure.status) \(failure.code)")
      }
    }
    return answers
  }

  /// Ids differ from run to run, and with them the order of rows for which none was asked.
  private static func text(of answer: RestAnswer) -> String {
    let body = answer.text.replacing(/[0-9a-f]{8}-[0-9a-f-]{27}/, with: "id")
    // `try?`: the other bodies are lines of CSV.
    let rows =
      if case .array(let elements)? = try? JSONReader.tree(of: body) { elements.map(\.text) } else {
        body.split(separator: "\n").map(String.init)
      }
    let headers = answer.headers.filter { $0.name != "location" }.map { "\($0.name): \($0.value)" }
    return (["\(answer.status)"] + headers + rows.sorted()).joined(separator: "\n")
  }

  private static func refusal(of request: RestRequest) -> String? {
    do {
      _ = try RestOperation(request, in: Places.schema)
      return nil
    } catch let failure as RestFailure {
      return failure.code
    } catch {
      return "\(error)"
    }
  }
}
