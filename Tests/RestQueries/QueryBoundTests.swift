import Database
import Foundation
import RestQueries
import Support
import Testing
import Wire

/// The largest queries that are accepted, and the slowest.
@Suite struct QueryBoundTests {
  private static func list(_ count: Int, of item: (Int) -> String, by separator: String = ",") -> String {
    (1...count).map(item).joined(separator: separator)
  }

  private static func fives(_ count: Int) -> String { list(count, of: { _ in "5" }) }

  private static let largest: [String] = [
    list(100, of: { _ in "stars=eq.5" }, by: "&"),
    "or=(\(list(99, of: { _ in "stars.eq.5" })),stars.eq.6)",
    "and=(\(list(7, of: { _ in "or(" }, by: ""))stars.eq.5\(list(8, of: { _ in ")" }, by: ""))",
    "stars=in.(\(fives(500)))", "stars=eq(any).{\(fives(100))}", "details->a=eq.[\(fives(499))]",
    "name=match(any).{b,c,d,^b}", "details->a->b->c->d->e->f->g->h=is.null",
    "select=\(list(60, of: { "c\($0):name" }))", "order=\(list(16, of: { _ in "name" }))",
    "select=name,\(list(15, of: { "n\($0):notes(id)" }))",
    "select=name,notes(\(list(60, of: { "c\($0):text" })))",
    "offset=0&limit=1000000000", "name=eq.\(list(16_000, of: { _ in "x" }, by: ""))",
  ]

  private static let tooLarge: [String] = [
    "select=\(list(17, of: { "n\($0):notes(id)" }))", "select=*,*,*,*,*,*",
    "select=notes(\(list(61, of: { "c\($0):text" })))",
    "details->a->b->c->d->e->f->g->h->i=is.null", "select=details->a->b->c->d->e->f->g->h->i",
    "name=match.\(list(30, of: { _ in "(" }, by: ""))a\(list(30, of: { _ in ")" }, by: ""))",
  ]

  @Test(arguments: engines) func theLargestQueriesRun(engine: Engine) async throws {
    try await PlacesApp.with(engine) { app in
      try await app.post("places", #"{"name":"bar","stars":5,"details":{"a":[\#(Self.fives(499))]}}"#)
      for query in Self.largest {
        let answer = try await app.send(RestRequest(.get, "places", query: query))
        let rows = try JSONSerialization.jsonObject(with: Data(answer.body)) as? [[String: Any]]
        let isFound = !query.hasPrefix("name=eq")
        #expect(answer.status == 200 && rows?.count == (isFound ? 1 : 0), "\(query.prefix(60))")
      }
    }
  }

  @Test(arguments: engines) func whatIsBeyondIsRefused(engine: Engine) async throws {
    try await PlacesApp.with(engine) { app in
      for query in Self.tooLarge {
        let failure = try await app.failure(RestRequest(.get, "places", query: query))
        #expect(failure?.status == 400 && ["PGRST100", "2201B"].contains(failure?.code), "\(query.prefix(60))")
      }
    }
  }

  /// By backtracking some of these would take longer than the world exists. Whatever takes too long is ended, and the
  /// connection goes on.
  @Test(arguments: engines) func expressionsEndWithTheirStatement(engine: Engine) async throws {
    try await PlacesApp.with(engine) { app in
      let place = try await app.post("places", #"{"name":"bar"}"#).changedKeys[0]
      let text = String(repeating: "a", count: 20_000)
      try await app.post("notes", #"{"place_id":"\#(place)","text":"\#(text)b"}"#)
      for pattern in ["^(a+)+$", "(a|a)*(a|a)*c", "((a{1,40}){1,3}|b)c", "(a*)*(a*)*(a*)*c"] {
        let start = ContinuousClock.now
        do {
          let found = try await app.get("notes", "select=id&text=match.\(pattern)")
          #expect(found == "[]", "\(pattern)")
        } catch is DatabaseFailure {}
        #expect(ContinuousClock.now - start < .seconds(20), "\(pattern)")
        #expect(try await app.get("notes", "select=points") == #"[{"points":0}]"#)
      }
    }
  }
}
