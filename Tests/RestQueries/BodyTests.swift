import Database
import Foundation
import RestQueries
import Support
import Testing

/// Bodies that are not JSON, the one row of a PUT, and headers that choose a schema.
@Suite struct BodyTests {
  private func post(_ body: String, as type: String, _ query: String = "select=name,stars,code,tags") -> RestRequest {
    RestRequest(
      .post, "places", query: query, contentType: type, prefer: ["return=representation"], body: Array(body.utf8))
  }

  @Test(arguments: engines) func aTableOfCommaSeparatedValuesIsInserted(engine: Engine) async throws {
    try await PlacesApp.with(engine) { app async throws in
      let table = "name,stars,code,tags\r\n\"Café \"\"A\"\",\nB\",5,NULL,\"{a,\"\"b,c\"\"}\"\r\nbar,2,\"x\",[]\r\n"
      #expect(
        try await app.send(post(table, as: "text/csv; charset=utf-8")).text == """
          [{"name":"Café \\"A\\",\\nB","stars":5,"code":null,"tags":["a","b,c"]},\
          {"name":"bar","stars":2,"code":"x","tags":[]}]
          """)
      #expect(try await app.send(post("name\nden", as: "text/csv", "select=name")).text == #"[{"name":"den"}]"#)
      #expect(try await app.send(post("name,code\nend,", as: "text/csv", "select=code")).text == #"[{"code":""}]"#)
      #expect(try await app.send(post("name,stars\n", as: "text/csv")).text == "[]")
      for (body, code) in [
        ("", "PGRST102"), ("name,stars\na", "PGRST102"), ("name\na,b", "PGRST102"), ("name,name\na,b", "PGRST102"),
        ("name\n\"a", "PGRST102"), ("name\n\"a\"b", "PGRST102"), ("nothing\n1", "PGRST204"),
        ("name,stars\na,many", "22P02"), ("name\na\u{0}", "22021"), ("name,note_count\na,1", "428C9"),
        ("name\n" + String(repeating: "a\n", count: 1001), "PGRST102"),
      ] {
        #expect(try await app.code(post(body, as: "text/csv")) == code, "\(body.prefix(40))")
      }
      let bytes = RestRequest(.post, "places", contentType: "text/csv", body: Array("name\n".utf8) + [0xFF])
      #expect(try await app.code(bytes) == "PGRST102")
      #expect(try await app.get("places", "select=count") == #"[{"count":4}]"#)
    }
  }

  @Test(arguments: engines) func aFormIsOneRow(engine: Engine) async throws {
    try await PlacesApp.with(engine) { app async throws in
      let form = "application/x-www-form-urlencoded"
      #expect(
        try await app.send(post("name=Caf%C3%A9+%2B+bar&stars=4&tags=%7Ba%7D", as: form)).text
          == #"[{"name":"Café + bar","stars":4,"code":null,"tags":["a"]}]"#)
      #expect(try await app.code(post("name=a&stars=x", as: form)) == "22P02")
      #expect(try await app.code(post("name=a&nothing=x", as: form)) == "PGRST204")
      #expect(try await app.code(post("name=%FF", as: form)) == "PGRST100")
      #expect(try await app.code(post("<name/>", as: "text/xml")) == "PGRST102")
      #expect(try await app.get("places", "select=count") == #"[{"count":1}]"#)
    }
  }

  private let id = "00000000-0000-7000-8000-000000000001"
  private let other = "00000000-0000-7000-8000-000000000002"

  private func put(
    _ query: String, _ body: String, prefer: String? = nil, accept: String? = nil
  ) -> RestRequest {
    RestRequest(
      .put, "places", query: query, accept: accept, prefer: prefer.map { [$0] } ?? [], body: Array(body.utf8))
  }

  @Test(arguments: engines) func aPutMakesOrChangesTheRowOfItsKey(engine: Engine) async throws {
    try await PlacesApp.with(engine) { app in
      let query = "id=eq.\(id.uppercased())&select=name,stars"
      let made = try await app.send(put(query, #"{"id":"\#(id)","name":"a","stars":1}"#))
      #expect(made.status == 201 && made.text == #"[{"name":"a","stars":1}]"#)
      #expect(made.header("preference-applied") == "return=representation")
      let changed = try await app.send(
        put(query, #"{"id":"\#(id)","name":"b"}"#, accept: "application/vnd.pgrst.object+json"))
      #expect(changed.status == 200 && changed.text == #"{"name":"b","stars":1}"#)
      let silent = try await app.send(put(query, #"[{"id":"\#(id)","name":"c"}]"#, prefer: "return=minimal"))
      #expect(silent.status == 204 && silent.body.isEmpty)
      let silentlyMade = try await app.send(
        put("id=eq.\(other)", #"{"id":"\#(other)","name":"e"}"#, prefer: "return=minimal"))
      #expect(silentlyMade.status == 204 && silentlyMade.body.isEmpty)
      #expect(try await app.delete("places", "id=eq.\(other)").status == 204)

      let row = #"{"id":"\#(id)","name":"d"}"#
      for (query, body, code) in [
        ("", row, "PGRST105"), ("name=eq.c", row, "PGRST105"), ("id=gt.\(id)", row, "PGRST105"),
        ("id=not.eq.\(id)", row, "PGRST105"), ("id=eq.\(id)&name=eq.c", row, "PGRST105"),
        ("id=eq.\(id)&limit=1", row, "PGRST114"), ("id=eq.\(id)&offset=1", row, "PGRST114"),
        ("id=eq.\(other)", row, "PGRST115"), ("id=eq.\(id)", #"{"name":"d"}"#, "PGRST115"),
        ("id=eq.\(id)", "[\(row),\(row)]", "PGRST115"), ("id=eq.\(id)", "[]", "PGRST115"),
        ("id=eq.1", #"{"id":"1","name":"d"}"#, "22P02"), ("id=eq.\(id)", "", "PGRST102"),
      ] {
        #expect(try await app.code(put(query, body)) == code, "\(query) \(body)")
      }
      // Another's row looks like a key that is taken.
      let theft = put("id=eq.\(id)", #"{"id":"\#(id)","name":"mine"}"#)
      #expect(try await app.code(theft, as: app.bob) == "23505")
      #expect(try await app.get("places", "select=name") == #"[{"name":"c"}]"#)
    }
  }

  @Test(arguments: engines) func onlyTheSchemaPublicIsThere(engine: Engine) async throws {
    try await PlacesApp.with(engine) { app in
      #expect(try await app.code(RestRequest(.get, "places", profile: "public")) == nil)
      let failure = try await app.failure(RestRequest(.get, "places", profile: "auth"))
      #expect(failure?.status == 406 && failure?.code == "PGRST106")
      #expect(failure?.proxyStatus == "PostgREST; error=PGRST106" && failure?.contractCode == "VALIDATION_ERROR")
    }
  }

  @Test func whatPostgRESTKnowsIsKnownToStrictHandling() throws {
    let dry = try Preferences(["handling=strict, tx=rollback, timezone=UTC, max-affected=1"])
    #expect(dry.affectedMax == 1)
    #expect(throws: RestFailure.self) { try Preferences(["handling=strict, tx=maybe"]) }
  }

  @Test(arguments: engines) func aSilentDeletionOfSeveralIsNotSingle(engine: Engine) async throws {
    try await PlacesApp.with(engine) { app in
      try await app.post("places", #"[{"name":"a"},{"name":"b"}]"#)
      let several = RestRequest(
        .delete, "places", query: "stars=eq.3", accept: "application/vnd.pgrst.object+json", prefer: ["return=minimal"])
      #expect(try await app.code(several) == "PGRST116")
      #expect(try await app.get("places", "select=count") == #"[{"count":2}]"#)
    }
  }
}
