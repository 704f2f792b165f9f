import Database
import Foundation
import RestQueries
import Support
import Testing
import Wire

/// Texts that nobody should send: each is answered, or refused with a code.
@Suite struct FuzzTests {
  private static let pieces = [
    "stars", "name", "notes", "places", "nothing", "eq", "neq", "in", "is", "not", "or", "and", "any", "all", "like",
    "match",
    "cs", "ov", "select", "order", "limit", "offset", "columns", "on_conflict", "null", "true", "count", "desc",
    "inner",
    "(", ")", "{", "}", "[", "]", ".", ",", ":", "::", "->", "->>", "\"", "'", "\\", "!", "*", "...", "-", "--", ";",
    "$1",
    "?", "0", "1", "-1", "99999999999999999999", "1e5", "é", "🎈", " ", "%", "\n", "%00", "+", "=", "&", "/*",
    "\u{200d}",
  ]

  private static func text(_ random: inout SeededRandom, _ count: Int) -> String {
    (0..<count).map { _ in pieces[Int.random(in: 0..<pieces.count, using: &random)] }.joined()
  }

  private static func encoded(_ text: String, isRaw: Bool) -> String {
    isRaw ? text : text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
  }

  /// One to three parameters of random pieces, half of them beginning as a query does.
  private static func query(_ random: inout SeededRandom) -> String {
    let starts = [
      "stars=eq.", "or=(", "select=", "order=", "name=in.(", "details->", "tags=cs.", "select=notes(", "name=imatch.",
    ]
    return (0..<Int.random(in: 1...3, using: &random)).map { _ in
      let isRaw = Bool.random(using: &random)
      let rest = text(&random, Int.random(in: 0...8, using: &random))
      guard Bool.random(using: &random), let start = starts.randomElement(using: &random) else {
        return text(&random, 1) + "=" + encoded(rest, isRaw: isRaw)
      }
      return start + encoded(rest, isRaw: isRaw)
    }.joined(separator: "&")
  }

  @Test(arguments: engines) func randomTextsAreAnsweredOrRefusedWithACode(engine: Engine) async throws {
    try await PlacesApp.with(engine) { app in
      try await app.post("places", FilterTests.rows)
      var random = SeededRandom(seed: 7)
      var answered = 0
      for _ in 0..<3000 {
        let query = Self.query(&random)
        do {
          _ = try await app.send(RestRequest(.get, "places", query: query, prefer: ["count=exact"]))
          answered += 1
        } catch let failure as RestFailure {
          #expect((300..<500).contains(failure.status) && !failure.code.isEmpty, "\(query) \(failure)")
        } catch {
          Issue.record("\(query): \(error)")
        }
      }
      #expect(answered > 30)
    }
  }

  @Test(arguments: engines) func randomBodiesAndHeadersAreAnsweredOrRefusedWithACode(engine: Engine) async throws {
    try await PlacesApp.with(engine) { app in
      var random = SeededRandom(seed: 8)
      var inserted = 0
      let values = [
        "null", "true", "1", "-1.5", "1e400", "\"a\"", "\"\"", "\"2024-01-15T12:00:00Z\"", "[\"x\"]", "{\"k\":[]}",
        "\"{a,b}\"", "{",
        "\"\\u0000\"", "99999999999999999999",
      ]
      let names = [
        "name", "stars", "latitude", "is_open", "seen_at", "visited_on", "details", "tags", "code", "id", "junk",
        "note_count",
      ]
      for _ in 0..<1500 {
        let members = (0..<Int.random(in: 0...3, using: &random)).map { _ in
          "\"\(names.randomElement(using: &random) ?? "")\":\(values.randomElement(using: &random) ?? "")"
        }
        let isArray = Bool.random(using: &random)
        let object = "{\((["\"name\":\"n\""] + members).joined(separator: ","))}"
        let query = Bool.random(using: &random) ? "" : Self.query(&random)
        var request = RestRequest(
          Bool.random(using: &random) ? .post : .patch, "places", query: query, prefer: [Self.text(&random, 3)],
          range: Self.text(&random, 2), body: Array((isArray ? "[\(object),\(object)]" : object).utf8))
        if request.method == .patch { request.query += "&stars=gte.0" }
        do {
          inserted += try await app.send(request).changedKeys.count
        } catch let failure as RestFailure {
          #expect((300..<500).contains(failure.status) && !failure.code.isEmpty, "\(request) \(failure)")
        } catch {
          Issue.record("\(request): \(error)")
        }
      }
      #expect(inserted > 30)
    }
  }

  @Test(arguments: engines) func nothingOfAQueryBecomesSQL(engine: Engine) async throws {
    try await PlacesApp.with(engine) { app in
      try await app.post("places", FilterTests.rows)
      let attacks = [
        "x' or '1'='1", "x'; drop table place; --", "\"; drop table place", "x) or (1=1", "$1", "?1", "\\'; --",
        "null) or (true",
        "'||(select name from place limit 1)||'",
      ]
      for attack in attacks {
        let text = attack.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        for query in [
          "name=eq.\(text)", "name=in.(\(text))", "name=in.(%22\(text)%22)", "name=ilike.\(text)",
          "or=(name.eq.%22x\(text)%22)",
          "details->>\(text)=eq.1", "details->%22\(text)%22=eq.1", "tags=cs.{\(text)}",
          "name=eq(any).{%22x%22}&code=eq.\(text)",
        ] {
          // Refused, or a value like any other, which no place has.
          let code = try await app.code(RestRequest(.get, "places", query: query))
          if code == nil { #expect(try await app.get("places", query) == "[]", "\(query)") }
        }
        for query in [
          "\(text)=eq.1", "select=\(text)", "order=\(text)", "select=a:%22\(text)%22", "order=%22\(text)%22",
          "select=notes(%22\(text)%22)", "notes.%22\(text)%22=eq.1", "select=name::\(text)",
        ] {
          #expect(try await app.code(RestRequest(.get, "places", query: query)) != nil, "\(query)")
        }
        let body = JSONTree.object([JSONTree.Member(name: attack, value: .string("x"))]).text
        #expect(try await app.code(RestRequest(.post, "places", body: Array(body.utf8))) == "PGRST204")
        // An alias may be any text, and is only written.
        let alias = "%22\(text.replacing("%22", with: "%5C%22").replacing("%5C%27", with: "%5C%5C%27"))%22"
        #expect(try await app.get("places", "select=\(alias):stars&stars=eq.5").hasSuffix(":5}]"))
        let named = try await app.post(
          "places", JSONTree.object([JSONTree.Member(name: "name", value: .string(attack))]).text)
        #expect(named.status == 201)
        try await app.delete("places", "name=eq.\(text)")
      }
      #expect(try await app.get("places", "select=count") == #"[{"count":3}]"#)
    }
  }
}
