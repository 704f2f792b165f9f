import Database
import Foundation
import RestQueries
import Support
import Testing
import Wire

/// What is selected, embedded, ordered and counted, byte by byte on both engines.
@Suite struct AnswerTests {
  private let first = "00000000-0000-7000-8000-000000000001"
  private let second = "00000000-0000-7000-8000-000000000002"
  private let third = "00000000-0000-7000-8000-000000000003"

  private func withPlaces(_ engine: Engine, _ body: (PlacesApp) async throws -> Void) async throws {
    try await PlacesApp.with(engine) { app in
      try await app.post(
        "places",
        """
        [{"id":"\(first)","name":"Café \\"A\\", B","stars":5,"latitude":37.7749,"seen_at":"2024-01-15T12:00:00.999",
          "details":{"z":1.50,"a":["x",{"k":null}],"é":"\\u00e9"},"tags":["b","a"]},
         {"id":"\(second)","name":"bar","stars":2,"latitude":0.1,"seen_at":null,"details":null,"tags":[]},
         {"id":"\(third)","name":"park","stars":3,"latitude":-5,"seen_at":"2024-01-15T13:30:00+02:00",
          "details":[1],"tags":["a"]}]
        """)
      try await app.post(
        "notes",
        """
        [{"place_id":"\(first)","text":"good","points":3},{"place_id":"\(first)","text":"better","points":5},
         {"place_id":"\(third)","text":"green","points":1}]
        """)
      try await body(app)
    }
  }

  @Test(arguments: engines) func everyTypeHasOneForm(engine: Engine) async throws {
    try await withPlaces(engine) { app in
      let row = try await app.get("places", "id=eq.\(first.uppercased())")
      #expect(
        row == """
          [{"id":"\(first)","user_id":"\(app.alice)","name":"Café \\"A\\", B","stars":5,"latitude":37.7749,\
          "is_open":true,"seen_at":"2024-01-15T12:00:00Z","visited_on":null,\
          "details":{"z":1.50,"a":["x",{"k":null}],"é":"é"},"tags":["b","a"],"code":null,\
          "created_at":"2027-01-15T08:00:00Z","updated_at":"2027-01-15T08:00:00Z","note_count":2}]
          """)
      let stripped = try await app.get(
        "places", "stars=eq.5&select=details,code", accept: "application/vnd.pgrst.array+json;nulls=stripped")
      #expect(stripped == #"[{"details":{"z":1.50,"a":["x",{}],"é":"é"}}]"#)
      let embedded = try await app.get(
        "notes", "text=eq.green&select=places(latitude,seen_at,details,tags,is_open,stars)")
      #expect(
        embedded == """
          [{"places":{"latitude":-5,"seen_at":"2024-01-15T11:30:00Z","details":[1],\
          "tags":["a"],"is_open":true,"stars":3}}]
          """)
      let exact = 0.1 + 0.2
      try await app.patch("places", "id=eq.\(third)", "{\"latitude\":\(exact)}")
      #expect(try await app.get("notes", "text=eq.green&select=...places(latitude)") == "[{\"latitude\":\(exact)}]")
      #expect(try await app.get("places", "latitude=eq.\(exact)&select=latitude") == "[{\"latitude\":\(exact)}]")
    }
  }

  /// Queries on places, and their answers.
  static let selections: [(String, String)] = [
    ("select=name&stars=eq.2", #"[{"name":"bar"}]"#),
    ("select=title:name,s:stars::text&stars=eq.2", #"[{"title":"bar","s":"2"}]"#),
    (
      "select=latitude::int,is_open::text,seen_at::text&stars=eq.5",
      #"[{"latitude":38,"is_open":"true","seen_at":"2024-01-15T12:00:00Z"}]"#
    ),
    (
      "select=details->a->1,details->z,first:details->a->>0&stars=eq.5",
      #"[{"a":{"k":null},"z":1.50,"first":"x"}]"#
    ),
    (
      "select=seen_at::date,stars::float8,tags::json,code::uuid,is_open::int,latitude::json&stars=eq.5",
      #"[{"seen_at":"2024-01-15","stars":5,"tags":["b","a"],"code":null,"is_open":1,"latitude":37.7749}]"#
    ),
    ("select=tags->>0&stars=eq.5", #"[{"tags":"b"}]"#),
    ("select=&stars=eq.5", "[{}]"),
    (
      "select=name,notes(text)&notes.order=text&stars=eq.5",
      #"[{"name":"Café \"A\", B","notes":[{"text":"better"},{"text":"good"}]}]"#
    ),
    ("select=stars,notes(text)&stars=eq.2", #"[{"stars":2,"notes":[]}]"#),
    (
      "select=stars,n:notes(points)&n.points=gt.4&order=stars",
      #"[{"stars":2,"n":[]},{"stars":3,"n":[]},{"stars":5,"n":[{"points":5}]}]"#
    ),
    ("select=stars,notes!inner(points)&notes.points=gt.4", #"[{"stars":5,"notes":[{"points":5}]}]"#),
    ("select=stars,notes!inner()&order=stars.desc", #"[{"stars":5},{"stars":3}]"#),
    ("select=stars,notes()&notes=is.null", #"[{"stars":2}]"#),
    ("select=stars,notes()&notes=not.is.null&order=stars", #"[{"stars":3},{"stars":5}]"#),
    ("select=stars,notes()&or=(notes.is.null,stars.eq.3)&order=stars", #"[{"stars":2},{"stars":3}]"#),
    ("select=notes(count)&order=stars", #"[{"notes":[{"count":0}]},{"notes":[{"count":1}]},{"notes":[{"count":2}]}]"#),
    ("select=count()&stars=gt.2", #"[{"count":2}]"#),
    ("select=count", #"[{"count":3}]"#),
    (
      "select=stars,notes(text)&notes.order=points.desc&notes.limit=1&stars=eq.5",
      #"[{"stars":5,"notes":[{"text":"better"}]}]"#
    ),
    (
      "select=stars,notes(text)&notes.order=points&notes.offset=1&stars=eq.5",
      #"[{"stars":5,"notes":[{"text":"better"}]}]"#
    ),
    (
      "select=stars,notes(text)&notes.or=(text.eq.good,points.gt.10)&stars=eq.5",
      #"[{"stars":5,"notes":[{"text":"good"}]}]"#
    ),
    (
      "select=stars,notes(text)&notes.not.and=(text.eq.good,points.gt.1)&stars=eq.5",
      #"[{"stars":5,"notes":[{"text":"better"}]}]"#
    ),
    ("select=stars&order=stars.desc&limit=1", #"[{"stars":5}]"#),
    ("select=stars&order=stars&limit=1&offset=1", #"[{"stars":3}]"#),
    ("select=stars&order=stars&limit=1&limit=2", #"[{"stars":2},{"stars":3}]"#),
    ("select=stars&order=stars&limit=x", #"[{"stars":2},{"stars":3},{"stars":5}]"#),
    ("select=stars&limit=0", "[]"),
    ("select=stars&order=seen_at.desc", #"[{"stars":2},{"stars":5},{"stars":3}]"#),
    ("select=stars&order=seen_at.asc.nullsfirst", #"[{"stars":2},{"stars":3},{"stars":5}]"#),
    ("select=stars&order=seen_at.nullslast,name", #"[{"stars":3},{"stars":5},{"stars":2}]"#),
    ("select=stars&order=details->z", #"[{"stars":5},{"stars":2},{"stars":3}]"#),
    ("select=stars&order=tags->>0.desc.nullslast,stars", #"[{"stars":5},{"stars":3},{"stars":2}]"#),
  ]

  @Test(arguments: engines) func whatIsSelectedIsWhatComes(engine: Engine) async throws {
    try await withPlaces(engine) { app in
      for (query, expected) in Self.selections {
        #expect(try await app.get("places", query) == expected, "\(query)")
      }
      let notes = try await app.get(
        "notes", "select=points,place:place_id(name)&order=place(stars).desc,points&limit=2")
      #expect(
        notes == #"[{"points":3,"place":{"name":"Café \"A\", B"}},{"points":5,"place":{"name":"Café \"A\", B"}}]"#)
      #expect(
        try await app.get("notes", "select=points,places!place_id(stars)&points=eq.1")
          == #"[{"points":1,"places":{"stars":3}}]"#)
      for hint in ["notes_place_id_fkey", "places"] {
        #expect(
          try await app.get("notes", "select=points,places!\(hint)(stars)&points=eq.1")
            == #"[{"points":1,"places":{"stars":3}}]"#)
      }
      #expect(
        try await app.get(
          "places", "select=stars,notes!notes_place_id_fkey(points)&notes.points=eq.1&stars=eq.3&limit=1")
          == #"[{"stars":3,"notes":[{"points":1}]}]"#)
      #expect(try await app.code(RestRequest(.get, "notes", query: "select=places!notes_id_fkey(stars)")) == "PGRST200")
      #expect(
        try await app.get("notes", "select=points,places!inner(stars)&places.stars=lt.5")
          == #"[{"points":1,"places":{"stars":3}}]"#)
      #expect(
        try await app.get("notes", "select=points,places(stars)&places.stars=lt.1&points=eq.1")
          == #"[{"points":1,"places":null}]"#)
      #expect(
        try await app.get("notes", "select=points,...places(stars)&places.stars=lt.1&points=eq.1")
          == #"[{"points":1,"stars":null}]"#)
      #expect(
        try await app.get("place_scores", "select=name,points&order=points.desc&limit=2")
          == #"[{"name":"Café \"A\", B","points":8},{"name":"park","points":1}]"#)
    }
  }

  @Test(arguments: engines) func answersComeAsObjectAsCSVAndWithoutNulls(engine: Engine) async throws {
    try await withPlaces(engine) { app in
      let object = "application/vnd.pgrst.object+json"
      #expect(
        try await app.get("places", "select=stars,seen_at&stars=eq.2", accept: object) == #"{"stars":2,"seen_at":null}"#
      )
      #expect(
        try await app.get("places", "select=stars,seen_at&stars=eq.2", accept: object + ";nulls=stripped")
          == #"{"stars":2}"#)
      #expect(
        try await app.get(
          "places", "select=stars,seen_at&stars=eq.2", accept: "application/vnd.pgrst.array+json;nulls=stripped")
          == #"[{"stars":2}]"#)
      for query in ["stars=gt.2", "stars=gt.9"] {
        let failure = try await app.failure(RestRequest(.get, "places", query: query, accept: object))
        #expect(failure?.status == 406)
        #expect(failure?.code == "PGRST116")
        #expect(failure?.details == "The result contains \(query == "stars=gt.9" ? 0 : 2) rows")
      }
      let csv = try await app.get(
        "places", "select=name,seen_at,tags,notes(text)&notes.order=points&stars=gt.2&order=stars.desc",
        accept: "text/csv")
      #expect(
        csv == """
          name,seen_at,tags,notes
          "Café ""A"", B",2024-01-15T12:00:00Z,"[""b"",""a""]","[{""text"":""good""},{""text"":""better""}]"
          park,2024-01-15T11:30:00Z,"[""a""]","[{""text"":""green""}]"
          """)
      #expect(try await app.code(RestRequest(.get, "places", accept: "image/png")) == "PGRST107")
    }
  }

  @Test(arguments: engines) func rangesAndCountsAreInContentRange(engine: Engine) async throws {
    try await withPlaces(engine) { app async throws in
      #expect(try await app.contentRange("order=stars") == "200 0-2/*")
      #expect(try await app.contentRange("stars=gt.9") == "200 */*")
      #expect(try await app.contentRange("limit=2", prefer: "count=exact") == "206 0-1/3")
      #expect(try await app.contentRange("limit=2", prefer: "count=planned", method: .head) == "206 0-1/3")
      #expect(try await app.contentRange("", prefer: "count=estimated") == "200 0-2/3")
      #expect(try await app.contentRange("offset=3", prefer: "count=exact") == "206 */3")
      #expect(try await app.contentRange("offset=9") == "200 */*")
      #expect(try await app.contentRange("", range: "1-1") == "200 1-1/*")
      #expect(try await app.contentRange("", prefer: "count=exact", range: "1-") == "206 1-2/3")
      #expect(try await app.contentRange("limit=1&offset=1", range: "0-9") == "200 1-1/*")
      #expect(try await app.contentRange("", range: "abc") == "200 0-2/*")
      #expect(try await app.contentRange("stars=gt.2", prefer: "count=exact", method: .head) == "200 0-1/2")
      #expect(try await app.code(RestRequest(.get, "places", query: "offset=4", prefer: ["count=exact"])) == "PGRST103")
      #expect(try await app.code(RestRequest(.get, "places", range: "5-2")) == "PGRST103")
    }
  }

  @Test func preferencesAreAppliedOnceEach() throws {
    let both = try Preferences(["return=minimal, count=exact", "return=representation,resolution=merge-duplicates"])
    #expect(both.returns == .minimal)
    #expect(both.count == .exact)
    #expect(both.resolution == .mergeDuplicates)
    #expect(try Preferences(["handling=lenient, what=ever"]).handling == .lenient)
    let failure = #expect(throws: RestFailure.self) { try Preferences(["handling=strict, what=ever, return=all"]) }
    #expect(failure?.code == "PGRST122")
    #expect(failure?.details == "Invalid preferences: what=ever, return=all")
    #expect(try Preferences(["max-affected=5"]).affectedMax == nil)
    #expect(try Preferences(["handling=strict,max-affected=5"]).affectedMax == 5)
  }
}
