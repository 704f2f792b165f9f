import Foundation
import RestQueries
import Support
import Testing

/// The texts that Supabase's builder for Python makes, each of which has to be understood.
@Suite(.enabled(if: Python.isAvailable)) struct BuilderTests {
  private struct Built: Decodable {
    let name: String
    let method: String
    let query: String
    let prefer: String?
    let accept: String?
    let body: String?
  }

  @Test func everyMethodOfTheBuilderIsUnderstood() async throws {
    let printed = try await Python.run(try Python.script("postgrest_builder"))
    let requests = try JSONDecoder().decode([Built].self, from: Data(printed.utf8))
    #expect(requests.count > 60)
    for built in requests {
      let method = try #require(RestRequest.Method(rawValue: built.method))
      let request = RestRequest(
        method, "places", query: built.query, accept: built.accept, prefer: built.prefer.map { [$0] } ?? [],
        body: Array((built.body ?? "").utf8))
      let refusal = Self.refusal(of: request)
      #expect(refusal == Self.refused[built.name], "\(built.name): \(built.query)")
    }
    #expect(Set(Self.refused.keys).isSubset(of: requests.map(\.name)))
  }

  /// What is left out: full-text search, and the format of query plans.
  private static let refused = [
    "fts": "PGRST100", "plfts": "PGRST100", "phfts": "PGRST100", "wfts": "PGRST100", "text_search": "PGRST100",
    "explain": "PGRST107",
  ]

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
