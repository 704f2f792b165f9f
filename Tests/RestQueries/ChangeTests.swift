import Database
import Foundation
import RestQueries
import Support
import Testing
import Wire

/// Inserts, updates, deletions and upserts, with what refuses them.
@Suite struct ChangeTests {
  @Test(arguments: engines) func anInsertFillsInWhatIsTheServers(engine: Engine) async throws {
    try await PlacesApp.with(engine) { app in
      let plain = try await app.post("places", #"{"name":"bar","created_at":"1999-01-01T00:00:00Z"}"#)
      #expect(plain.status == 201)
      #expect(plain.header("preference-applied") == "return=representation")
      #expect(plain.text.contains(#""name":"bar","stars":3"#))
      #expect(plain.text.contains(#""created_at":"2027-01-15T08:00:00Z""#))
      #expect(plain.text.contains("\"user_id\":\"\(app.alice)\""))
      #expect(plain.changedKeys.count == 1)

      let minimal = try await app.post("places", #"{"name":"inn"}"#, prefer: "return=minimal")
      #expect(minimal.status == 201 && minimal.body.isEmpty)
      #expect(minimal.header("location") == "/places?id=eq.\(minimal.changedKeys[0])")
      #expect(try await app.post("places", #"{"name":"den"}"#, prefer: "count=exact").header("content-range") == "*/1")

      let several = try await app.post(
        "places", #"[{"name":"z","stars":1},{"name":"a","stars":2}]"#, "select=name,notes(text)")
      #expect(several.text == #"[{"name":"z","notes":[]},{"name":"a","notes":[]}]"#)
      #expect(try await app.post("places", "[]").text == "[]")
      #expect(try await app.post("places", "5").text == "[]")

      let wanted = #"[{"name":"x","stars":null,"junk":1},{"name":"y"}]"#
      let defaults = try await app.post(
        "places", #"[{"name":"x","junk":1},{"name":"y","stars":4}]"#, "columns=\"name\",\"stars\"&select=name,stars",
        prefer: "return=representation,missing=default")
      #expect(defaults.text == #"[{"name":"x","stars":3},{"name":"y","stars":4}]"#)
      #expect(defaults.header("preference-applied") == "missing=default, return=representation")
      let request = RestRequest(.post, "places", query: "columns=name,stars", body: Array(wanted.utf8))
      #expect(try await app.code(request) == "23502")
    }
  }

  /// Bodies of a POST to places, and their codes.
  static let refused: [(String, String)] = [
    ("", "PGRST102"), ("{", "PGRST102"), ("[1]", "PGRST102"), (#"[{"name":"a"},{"stars":1}]"#, "PGRST102"),
    (#"{"name":"a","nothing":1}"#, "PGRST204"), (#"{"name":"a","note_count":1}"#, "428C9"), (#"{"stars":1}"#, "23502"),
    (#"{"name":""}"#, "23514"), (#"{"name":null}"#, "23502"), (#"{"name":"a","stars":"many"}"#, "22P02"),
    (#"{"name":"a","stars":1.5}"#, "22P02"), (#"{"name":"a","latitude":"north"}"#, "22P02"),
    (#"{"name":"a","seen_at":"soon"}"#, "22007"), (#"{"name":"a\u0000"}"#, "PGRST102"),
    (#"{"name":"\ud800"}"#, "PGRST102"),
    (#"{"name":"a","id":"1"}"#, "22P02"), (#"{"name":"a","tags":"x"}"#, "PGRST100"),
    (#"{"name":"a","user_id":"00000000-0000-7000-8000-000000000009"}"#, "42501"),
    (#"[{"name":"a"},{"name":""}]"#, "23514"), (#"{"name":"a","name":""}"#, "23514"),
    (
      "{\"name\":\"a\",\"details\":" + String(repeating: "[", count: 70) + String(repeating: "]", count: 70) + "}",
      "PGRST102"
    ),
    ("[" + Array(repeating: #"{"name":"a"}"#, count: 1001).joined(separator: ",") + "]", "PGRST102"),
  ]

  @Test(arguments: engines) func aRefusedInsertLeavesNothing(engine: Engine) async throws {
    try await PlacesApp.with(engine) { app in
      for (body, code) in Self.refused {
        #expect(try await app.code(RestRequest(.post, "places", body: Array(body.utf8))) == code, "\(body.prefix(80))")
      }
      let plain = RestRequest(.post, "places", contentType: "text/plain", body: Array("name\na".utf8))
      #expect(try await app.code(plain) == "PGRST102")
      #expect(try await app.code(RestRequest(.post, "place_scores", body: Array(#"{"name":"a"}"#.utf8))) == "42501")
      let stranger = #"{"place_id":"\#(UserID.new(at: app.now))","text":"a"}"#
      let code = try await app.code(RestRequest(.post, "notes", body: Array(stranger.utf8)))
      #expect(code == "23503" || code == "42501")
      let object = "application/vnd.pgrst.object+json"
      let two = Array(#"[{"name":"a"},{"name":"b"}]"#.utf8)
      #expect(try await app.code(RestRequest(.post, "places", accept: object, body: two)) == "PGRST116")
      #expect(try await app.get("places", "select=count") == #"[{"count":0}]"#)
    }
  }

  @Test(arguments: engines) func anUpdateChangesWhatItFinds(engine: Engine) async throws {
    try await PlacesApp.with(engine) { app in
      let ids = try await app.post("places", #"[{"name":"a","stars":1},{"name":"b","stars":2},{"name":"c","stars":3}]"#)
        .changedKeys
      let changed = try await app.patch("places", "stars=gt.1&order=name.desc&select=name,stars", #"{"stars":5}"#)
      #expect(changed.status == 200)
      #expect(changed.text == #"[{"name":"c","stars":5},{"name":"b","stars":5}]"#)
      #expect(changed.header("content-range") == "0-1/*")
      #expect(Set(changed.changedKeys) == Set(ids.dropFirst()))
      let minimal = try await app.patch(
        "places", "stars=eq.1", #"{"latitude":1.5}"#, prefer: "return=minimal,count=exact")
      #expect(minimal.status == 204 && minimal.body.isEmpty)
      #expect(minimal.header("content-range") == "0-0/1")
      #expect(try await app.patch("places", "stars=eq.9", #"{"stars":1}"#).text == "[]")
      #expect(try await app.patch("places", "stars=eq.1", "{}").text == "[]")
      #expect(
        try await app.patch("places", "stars=eq.5&order=name&limit=1&select=name", #"{"stars":4}"#).text
          == #"[{"name":"b"}]"#)
      let same =
        #"{"id":"\#(ids[0].uppercased())","user_id":"\#(app.alice)","created_at":"1999-01-01T00:00:00Z","name":"A"}"#
      #expect(try await app.patch("places", "id=eq.\(ids[0])&select=name", same).text == #"[{"name":"A"}]"#)

      for (query, body, code) in [
        ("", #"{"stars":1}"#, "21000"), ("select=name", #"{"stars":1}"#, "21000"),
        ("limit=1", #"{"stars":1}"#, "21000"),
        ("id=eq.\(ids[0])", #"{"id":"\#(ids[1])","stars":1}"#, "42501"),
        ("id=eq.\(ids[0])", #"{"user_id":"\#(app.bob)"}"#, "42501"), ("id=eq.\(ids[0])", #"{"note_count":1}"#, "428C9"),
        ("id=eq.\(ids[0])", #"{"name":null}"#, "23502"), ("id=eq.\(ids[0])", #"{"nothing":1}"#, "PGRST204"),
        ("id=eq.\(ids[0])", "[{},{}]", "PGRST102"), ("stars=gte.0", #"{"code":"same"}"#, "23505"),
      ] {
        #expect(
          try await app.code(RestRequest(.patch, "places", query: query, body: Array(body.utf8))) == code,
          "\(query) \(body)")
      }
      let few = RestRequest(
        .patch, "places", query: "stars=gte.0", prefer: ["handling=strict, max-affected=2"],
        body: Array(#"{"stars":0}"#.utf8))
      #expect(try await app.code(few) == "PGRST124")
      #expect(try await app.get("places", "stars=eq.0") == "[]")
    }
  }

  @Test(arguments: engines) func aRestrictedChangeTouchesOnlyWhatWasChosen(engine: Engine) async throws {
    try await PlacesApp.with(engine) { app in
      let bobs = try await app.post("places", #"{"name":"a2"}"#, as: app.bob).changedKeys[0]
      try await app.post("notes", #"{"place_id":"\#(bobs)","text":"hello"}"#)
      let ids = try await app.post("places", #"[{"name":"b"},{"name":"c"}]"#).changedKeys
      for (method, body, limit) in [
        (RestRequest.Method.patch, #"{"stars":5}"#, ""), (.patch, #"{"stars":5}"#, "&limit=3"),
        (.delete, "", "&limit=4"),
      ] {
        let request = RestRequest(method, "places", query: "name=gte.a&order=name\(limit)", body: Array(body.utf8))
        let answer = try await app.database.write { [caller = Caller(app.alice, at: app.now)] db in
          var operation = try RestOperation(request, in: Places.schema)
          let chosen = try operation.restrict(for: caller, on: db, engine)
          let row = RestRequest(.post, "places", body: Array(#"{"name":"a"}"#.utf8))
          _ = try RestOperation(row, in: Places.schema).answer(for: caller, on: db, engine)
          let answer = try operation.answer(for: caller, on: db, engine)
          #expect(Set(answer.changedKeys) == Set(chosen))
          return answer
        }
        // Bob's, which alice sees but may not change, takes no place on the page.
        #expect(Set(answer.changedKeys).isSuperset(of: ids), "\(method)\(limit)")
      }
      #expect(try await app.get("places", "select=name&order=name") == #"[{"name":"a"},{"name":"a2"}]"#)
    }
  }

  @Test(arguments: engines) func aDeletionShowsWhatItDeleted(engine: Engine) async throws {
    try await PlacesApp.with(engine) { app in
      let ids = try await app.post("places", #"[{"name":"a"},{"name":"b"},{"name":"c"}]"#).changedKeys
      try await app.post("notes", #"{"place_id":"\#(ids[0])","text":"good"}"#)
      #expect(try await app.code(RestRequest(.delete, "places")) == "21000")
      #expect(try await app.code(RestRequest(.delete, "place_scores", query: "name=eq.a")) == "42501")
      let shown = try await app.delete(
        "places", "name=eq.a&select=name,notes(text)", prefer: "return=representation,count=exact")
      #expect(shown.status == 200)
      #expect(shown.text == #"[{"name":"a","notes":[{"text":"good"}]}]"#)
      #expect(shown.header("content-range") == "*/1")
      let silent = try await app.delete("places", "name=eq.b")
      #expect(silent.status == 204 && silent.body.isEmpty && silent.changedKeys == [ids[1]])
      #expect(try await app.delete("places", "name=eq.b", prefer: "return=representation").text == "[]")
      let strict = RestRequest(.delete, "places", query: "name=eq.c", prefer: ["handling=strict,max-affected=0"])
      #expect(try await app.code(strict) == "PGRST124")
      #expect(try await app.get("places", "select=name") == #"[{"name":"c"}]"#)
    }
  }

  @Test(arguments: engines) func anUpsertChangesOnlyOnesOwn(engine: Engine) async throws {
    try await PlacesApp.with(engine) { app in
      let merge = "resolution=merge-duplicates,return=representation"
      let id = try await app.post("places", #"{"name":"a","stars":1,"code":"k"}"#).changedKeys[0]
      let again = try await app.post("places", #"{"id":"\#(id)","name":"b"}"#, "select=name,stars", prefer: merge)
      #expect(again.status == 200 && again.text == #"[{"name":"b","stars":1}]"#)
      #expect(again.header("preference-applied") == "resolution=merge-duplicates, return=representation")
      let byCode = try await app.post(
        "places", #"[{"name":"c","code":"k"},{"name":"d","code":"l"}]"#, "on_conflict=user_id,code&select=name,stars",
        prefer: merge)
      #expect(byCode.text == #"[{"name":"c","stars":1},{"name":"d","stars":3}]"#)
      #expect(byCode.status == 201)
      let ignored = try await app.post(
        "places", #"[{"name":"e","code":"k"},{"name":"f","code":"m"}]"#, "on_conflict=user_id,code&select=name",
        prefer: "resolution=ignore-duplicates,return=representation")
      #expect(ignored.text == #"[{"name":"f"}]"#)
      // Without a resolution a row in the way is a conflict; so is another's, which must not be changed.
      let plain = RestRequest(.post, "places", body: Array(#"{"id":"\#(id)","name":"x"}"#.utf8))
      #expect(try await app.code(plain) == "23505")
      let theft = RestRequest(.post, "places", prefer: [merge], body: plain.body)
      #expect(try await app.code(theft, as: app.bob) == "23505")
      #expect(try await app.get("places", "id=eq.\(id)&select=name") == #"[{"name":"c"}]"#)
      let unknown = RestRequest(
        .post, "places", query: "on_conflict=name", prefer: [merge], body: Array(#"{"name":"x"}"#.utf8))
      #expect(try await app.code(unknown) == "42P10")
    }
  }

  @Test(arguments: engines) func anUpsertSaysWhetherItHasMadeARow(engine: Engine) async throws {
    try await PlacesApp.with(engine) { app in
      let (merge, ignore) = ("resolution=merge-duplicates", "resolution=ignore-duplicates")
      let id = try await app.post("places", #"{"name":"a","code":"k"}"#).changedKeys[0]
      let new = (0..<3).map { _ in "\(ID<Any>.new(at: app.now))" }
      let same = #"{"id":"\#(id.uppercased())","name":"b"}"#
      for (body, query, prefer, status) in [
        // A row that is there, one that is not, both, and none.
        (same, "", merge, 200), (#"{"id":"\#(new[0])","name":"b"}"#, "", merge, 201),
        (#"[\#(same),{"id":"\#(new[1])","name":"b"}]"#, "", merge, 201), (#"{"name":"b"}"#, "", merge, 201),
        ("[\(same),\(same)]", "", merge, 200), ("[]", "", merge, 200),
        // By other columns than the id, with an id of its own that the row does not get, and with that of the row.
        (#"{"name":"c","code":"k"}"#, "on_conflict=user_id,code", merge, 200),
        (#"{"id":"\#(new[2])","name":"c","code":"k"}"#, "on_conflict=user_id,code", merge, 200),
        (#"{"id":"\#(id)","name":"c","code":"k"}"#, "on_conflict=user_id,code", merge, 200),
        (#"{"name":"c","code":"l"}"#, "on_conflict=user_id,code", merge, 201),
        // PostgREST has 201 for what it ignores.
        (same, "", ignore, 201), ("[]", "", ignore, 201),
      ] {
        for returns in ["minimal", "headers-only", "representation"] {
          // What was made the first time is there the second.
          let answer = try await app.post("places", body, query, prefer: "\(prefer),return=\(returns)")
          let isRepeated = returns != "minimal" && prefer == merge && !(body == #"{"name":"b"}"#)
          #expect(answer.status == (isRepeated ? 200 : status), "\(body) \(query) \(prefer) \(returns)")
          #expect(answer.body.isEmpty == (returns != "representation"), "\(returns)")
        }
      }
      for (returns, status, isSilent) in [
        ("minimal", 204, true), ("headers-only", 204, true), ("representation", 200, false),
      ] {
        let patched = try await app.patch("places", "id=eq.\(id)", #"{"stars":2}"#, prefer: "return=\(returns)")
        #expect(patched.status == status && patched.body.isEmpty == isSilent, "\(returns)")
        let none = try await app.patch("places", "id=eq.\(new[2])", #"{"stars":2}"#, prefer: "return=\(returns)")
        #expect(none.status == status && none.body.isEmpty == isSilent, "\(returns)")
        let deleted = try await app.delete("places", "id=eq.\(new[2])", prefer: "return=\(returns)")
        #expect(deleted.status == status && deleted.body.isEmpty == isSilent, "\(returns)")
      }
    }
  }

  @Test(arguments: engines) func fiftyUpsertsAtOnceLeaveOneRow(engine: Engine) async throws {
    try await PlacesApp.with(engine) { app in
      let answers = try await withThrowingTaskGroup(of: RestAnswer.self) { group in
        for number in 1...50 {
          group.addTask {
            try await app.post(
              "places", #"{"name":"n\#(number)","code":"k"}"#, "on_conflict=user_id,code&select=id",
              prefer: "resolution=merge-duplicates,return=representation")
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(answers.count == 50)
      #expect(Set(answers.map(\.text)).count == 1)
      #expect(try await app.get("places", "select=count") == #"[{"count":1}]"#)
      let inserts = await withTaskGroup(of: Bool.self) { group in
        for _ in 1...50 {
          // `try?`: the losers are refused.
          group.addTask { (try? await app.post("places", #"{"name":"once","code":"o"}"#)) != nil }
        }
        return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
      }
      #expect(inserts == 1)
    }
  }
}
