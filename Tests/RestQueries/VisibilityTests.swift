import Database
import Foundation
import RestQueries
import Support
import Testing
import Wire

/// Who sees a row decides every verb, every embedded resource and every count.
@Suite struct VisibilityTests {
  /// Alice owns an open place and a closed one; Bob is a guest of the open one; Carol knows neither.
  private struct People {
    let app: PlacesApp
    let carol: UserID
    let open: String
    let closed: String
  }

  private func withPeople(_ engine: Engine, _ body: (People) async throws -> Void) async throws {
    try await PlacesApp.with(engine) { app in
      let ids = try await app.post(
        "places", #"[{"name":"open","is_open":true},{"name":"closed","is_open":false}]"#
      ).changedKeys
      try await app.post("notes", #"{"place_id":"\#(ids[0])","text":"by bob","points":2}"#, as: app.bob)
      try await app.post("notes", #"{"place_id":"\#(ids[0])","text":"bob's secret","is_secret":true}"#, as: app.bob)
      try await app.post("notes", #"{"place_id":"\#(ids[0])","text":"by alice","points":1}"#)
      try await body(People(app: app, carol: UserID.new(at: app.now), open: ids[0], closed: ids[1]))
    }
  }

  @Test(arguments: engines) func readsShowWhatOneMaySee(engine: Engine) async throws {
    try await withPeople(engine) { people in
      let app = people.app
      #expect(try await app.get("places", "select=name&order=name") == #"[{"name":"closed"},{"name":"open"}]"#)
      #expect(try await app.get("places", "select=name", as: app.bob) == #"[{"name":"open"}]"#)
      #expect(try await app.get("places", "select=name", as: people.carol) == "[]")
      for (user, count) in [(app.alice, 2), (app.bob, 1), (people.carol, 0)] {
        #expect(try await app.get("places", "select=count", as: user) == "[{\"count\":\(count)}]")
        let counted = RestRequest(.head, "places", prefer: ["count=exact"])
        let range = try await app.send(counted, as: user).header("content-range")
        #expect(range?.hasSuffix("/\(count)") == true)
      }
      // No condition widens it.
      for query in [
        "or=(name.eq.closed,name.neq.closed)", "not.and=(name.eq.x,name.neq.x)", "id=eq.\(people.closed)",
        "name=in.(closed)",
      ] {
        #expect(!(try await app.get("places", query + "&select=name", as: app.bob)).contains("closed"), "\(query)")
      }
    }
  }

  @Test(arguments: engines) func embeddedRowsAndTheirCountsAreThoseOneMaySee(engine: Engine) async throws {
    try await withPeople(engine) { people in
      let app = people.app
      let notes = "select=name,notes(text)&notes.order=text&name=eq.open"
      #expect(
        try await app.get("places", notes) == #"[{"name":"open","notes":[{"text":"by alice"},{"text":"by bob"}]}]"#)
      #expect(
        try await app.get("places", notes, as: app.bob)
          == #"[{"name":"open","notes":[{"text":"bob's secret"},{"text":"by bob"}]}]"#)
      #expect(try await app.get("places", "select=notes(count)&name=eq.open") == #"[{"notes":[{"count":2}]}]"#)
      // A secret note is neither found by a filter nor by the order.
      let search = "select=name,notes!inner()&notes.text=eq.bob's secret"
      #expect(try await app.get("places", search) == "[]")
      #expect(try await app.get("places", search, as: app.bob) == #"[{"name":"open"}]"#)
      // Bob's note stays his when the place is closed; the place within it does not.
      try await app.patch("places", "name=eq.open", #"{"is_open":false}"#)
      #expect(
        try await app.get("notes", "select=text,places(name)&order=text&limit=1", as: app.bob)
          == #"[{"text":"bob's secret","places":null}]"#)
      #expect(try await app.get("notes", "select=text,places!inner(name)", as: app.bob) == "[]")
      #expect(
        try await app.get("notes", "select=text,places(name)&order=places(name),text&limit=1", as: app.bob).contains(
          "null"))
    }
  }

  @Test(arguments: engines) func changesTouchOnesOwnRowsOnly(engine: Engine) async throws {
    try await withPeople(engine) { people in
      let app = people.app
      for (user, name) in [(app.bob, "open"), (app.bob, "closed"), (people.carol, "open")] {
        #expect(try await app.patch("places", "name=eq.\(name)", #"{"stars":1}"#, as: user).text == "[]")
        let deletion = try await app.delete(
          "places", "name=eq.\(name)", prefer: "return=representation,count=exact", as: user)
        #expect(deletion.text == "[]" && deletion.header("content-range") == "*/0" && deletion.changedKeys.isEmpty)
        let silent = try await app.delete("places", "name=eq.\(name)", as: user)
        #expect(silent.status == 204 && silent.changedKeys.isEmpty)
      }
      // Alice sees Bob's note and may not change it.
      #expect(try await app.patch("notes", "text=eq.by bob", #"{"text":"mine"}"#).text == "[]")
      #expect(
        try await app.patch("notes", "text=eq.by bob&select=text", #"{"text":"still mine"}"#, as: app.bob).text
          == #"[{"text":"still mine"}]"#)
      #expect(try await app.get("places", "select=count") == #"[{"count":2}]"#)
      #expect(try await app.get("places", "stars=eq.1") == "[]")
    }
  }

  @Test(arguments: engines) func newRowsMustFulfilTheRule(engine: Engine) async throws {
    try await withPeople(engine) { people in
      let app = people.app
      let note = RestRequest(.post, "notes", body: Array(#"{"place_id":"\#(people.closed)","text":"hello"}"#.utf8))
      let failure = try await app.failure(note, as: people.carol)
      #expect(failure?.code == "42501")
      #expect(failure?.status == 403)
      #expect(failure?.contractCode == "PERMISSION_DENIED")
      #expect(try await app.get("notes", "select=count", as: people.carol) == #"[{"count":0}]"#)
      #expect(try await app.send(note).status == 201)
      let forged = #"{"name":"a","user_id":"\#(app.alice)"}"#
      #expect(try await app.code(RestRequest(.post, "places", body: Array(forged.utf8)), as: people.carol) == "42501")
      #expect(try await app.code(RestRequest(.post, "places", body: Array(forged.utf8))) == nil)
      let moved = RestRequest(
        .patch, "notes", query: "text=eq.by alice", body: Array(#"{"place_id":"\#(people.closed)"}"#.utf8))
      #expect(try await app.code(moved) == "42501")
    }
  }
}
