import Database
import Foundation
import RestQueries
import Support
import Testing
import Wire

/// How large an answer becomes, whatever is asked for.
@Suite struct BoundTests {
  @Test(arguments: engines) func anAnswerAndAnEmbeddedArrayHaveAThousandRows(engine: Engine) async throws {
    try await PlacesApp.with(engine) { app in
      let rows = Array(repeating: #"{"name":"a"}"#, count: 1000).joined(separator: ",")
      let id = try await app.post("places", "[\(rows)]", prefer: "return=minimal").changedKeys[0]
      try await app.post("places", #"{"name":"the last"}"#)
      let notes = Array(repeating: #"{"place_id":"\#(id)","text":"n"}"#, count: 1000).joined(separator: ",")
      try await app.post("notes", "[\(notes)]", prefer: "return=minimal")
      try await app.post("notes", #"{"place_id":"\#(id)","text":"the last"}"#)

      for query in ["select=name", "select=name&limit=5000", "select=name&limit=1001"] {
        let answer = try await app.send(RestRequest(.get, "places", query: query, prefer: ["count=exact"]))
        #expect(try Self.rows(answer.text).count == 1000, "\(query)")
        #expect(answer.status == 206 && answer.header("content-range") == "0-999/1001", "\(query)")
      }
      #expect(try await Self.rows(app.get("places", "select=name&offset=1000")).count == 1)
      for query in ["", "&notes.limit=5000", "&notes.limit=1001"] {
        let place = try await Self.rows(app.get("places", "id=eq.\(id)&select=notes(id)\(query)")).first
        #expect((place?["notes"] as? [Any])?.count == 1000, "\(query)")
      }
      #expect(try await app.get("places", "id=eq.\(id)&select=notes(count)") == #"[{"notes":[{"count":1001}]}]"#)
    }
  }

  @Test(arguments: engines) func embeddedRowsHaveABoundOfBytesTogether(engine: Engine) async throws {
    try await PlacesApp.with(engine) { app in
      try await Self.addLargeNotes(to: app)
      let all = RestRequest(.get, "places", query: "select=name,notes(text)&order=name")
      #expect(try await app.failure(all)?.code == "54000")
      #expect(try await app.failure(all)?.status == 400)
      #expect(try await app.failure(RestRequest(.get, "places", query: "select=notes(text)&limit=3"))?.code == "54000")
      let embedding = RestRequest(
        .patch, "places", query: "name=gte.a&select=name,notes(text)", body: Array(#"{"stars":1}"#.utf8))
      #expect(try await app.failure(embedding)?.code == "54000")
      // Fewer rows, less of each, or a number of them are answered.
      let two = try await Self.rows(app.get("places", "select=name,notes(text)&order=name&limit=2"))
      #expect(two.map { ($0["notes"] as? [Any])?.count } == [8, 8])
      #expect(two.map { $0["name"] as? String } == ["a", "b"])
      let few = try await Self.rows(app.get("places", "select=notes(text)&notes.limit=5"))
      #expect(few.map { ($0["notes"] as? [Any])?.count } == [5, 5, 5])
      #expect(try await Self.rows(app.get("places", "select=notes(count)")).count == 3)
      #expect(try await app.get("places", "select=stars&stars=eq.1") == "[]")
    }
  }

  /// Three places, each with eight notes of a megabyte.
  private static func addLargeNotes(to app: PlacesApp) async throws {
    let places = try await app.post("places", #"[{"name":"a"},{"name":"b"},{"name":"c"}]"#).changedKeys
    let text = String(repeating: "x", count: 1_000_000)
    try await app.database.write { [alice = app.alice, now = app.now] db in
      for place in places {
        for _ in 0..<8 {
          try db.change(
            """
            insert into note (id, place_id, user_id, text, created_at)
            values (\(ID<Any>.new(at: now)), \(ID<Any>(place)), \(alice), \(text), \(now))
            """)
        }
      }
    }
  }

  @Test(arguments: engines) func everyAnswerHasABoundOfBytes(engine: Engine) async throws {
    try await PlacesApp.with(engine) { app in
      try await Self.addLargeNotes(to: app)
      for accept in ["application/json", "text/csv", "application/vnd.pgrst.array+json;nulls=stripped"] {
        for query in ["", "select=id,text", "limit=17", "offset=7", "select=text::text", "text=like.x*"] {
          let failure = try await app.failure(RestRequest(.get, "notes", query: query, accept: accept))
          #expect(failure?.code == "54000" && failure?.status == 400, "\(query) \(accept)")
        }
        // Fewer rows are answered, and so are smaller columns.
        let some = RestRequest(.get, "notes", query: "select=text&limit=16", accept: accept, prefer: ["count=exact"])
        let answer = try await app.send(some)
        #expect(answer.header("content-range") == "0-15/24" && answer.body.count > 16_000_000, "\(accept)")
        #expect(try await app.send(RestRequest(.get, "notes", query: "select=id", accept: accept)).status == 200)
      }
      #expect(try await Self.rows(app.get("notes", "select=text&limit=16&offset=8")).count == 16)
      // HEAD has no body. It is how clients count.
      for query in ["", "select=*", "select=text,places!inner(name)&places.name=gte.a"] {
        let head = try await app.send(RestRequest(.head, "notes", query: query, prefer: ["count=exact"]))
        #expect(head.status == 200 && head.header("content-range") == "0-23/24" && head.body.isEmpty, "\(query)")
      }
      let object = RestRequest(.head, "notes", accept: "application/vnd.pgrst.object+json")
      #expect(try await app.failure(object)?.code == "PGRST116")
    }
  }

  @Test(arguments: engines) func aChangeWhoseAnswerIsTooLargeIsNotMade(engine: Engine) async throws {
    try await PlacesApp.with(engine) { app in
      try await Self.addLargeNotes(to: app)
      let body = #"{"is_secret":true}"#
      let change = RestRequest(.patch, "notes", query: "text=like.x*", body: Array(body.utf8))
      #expect(try await app.failure(change)?.code == "54000")
      let deletion = RestRequest(.delete, "notes", query: "text=like.x*", prefer: ["return=representation"])
      #expect(try await app.failure(deletion)?.code == "54000")
      #expect(try await app.get("notes", "select=count&is_secret=is.false") == #"[{"count":24}]"#)
      // Without the rows it is, and with fewer of their columns.
      #expect(try await app.patch("notes", "text=like.x*", body, prefer: "return=minimal").status == 204)
      #expect(try await app.get("notes", "select=count&is_secret=is.true") == #"[{"count":24}]"#)
      let few = try await app.delete("notes", "text=like.x*&select=points", prefer: "return=representation")
      #expect(few.status == 200 && few.changedKeys.count == 24)
    }
  }

  /// A name may be as long as a query, and is in each object.
  @Test(arguments: engines) func namesCountAsOftenAsTheyAreWritten(engine: Engine) async throws {
    try await PlacesApp.with(engine) { app in
      let places = try await app.post("places", #"[{"name":"a"},{"name":"b"}]"#).changedKeys
      let notes = places.flatMap { place in Array(repeating: #"{"place_id":"\#(place)","text":"n"}"#, count: 500) }
      try await app.post("notes", "[\(notes.joined(separator: ","))]", prefer: "return=minimal")
      let name = String(repeating: "n", count: 8000)
      let query = "select=name,notes(\(name):text,\(name)s:points)"
      #expect(try await Self.rows(app.get("places", query)).count == 2)
      let more = Array(repeating: #"{"place_id":"\#(places[0])","text":"n"}"#, count: 100).joined(separator: ",")
      try await app.post("notes", "[\(more)]", prefer: "return=minimal")
      for accept in ["application/json", "text/csv"] {
        let failure = try await app.failure(RestRequest(.get, "places", query: query, accept: accept))
        #expect(failure?.code == "54000", "\(accept)")
      }
    }
  }

  @Test(arguments: ["select=notes(places(name))", "select=notes(places(notes(text)))", "select=n:notes(p:places())"])
  func aTableIsNotEmbeddedInItself(query: String) throws {
    let failure = #expect(throws: RestFailure.self) {
      try RestOperation(RestRequest(.get, "places", query: query), in: Places.schema)
    }
    #expect(failure?.code == "PGRST100" && failure?.status == 400)
    #expect(failure?.details == "at places > notes > places")
    // Beside itself it is.
    let twice = "select=notes(text),n:notes(points)"
    #expect(throws: Never.self) { try RestOperation(RestRequest(.get, "places", query: twice), in: Places.schema) }
  }

  private static func rows(_ text: String) throws -> [[String: Any]] {
    try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]] ?? []
  }
}
