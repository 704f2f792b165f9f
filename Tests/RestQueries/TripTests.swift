import Database
import Foundation
import RestQueries
import Support
import Testing
import Wire

/// Relations of many to many, and writes that a service makes itself.
@Suite struct TripTests {
  private struct TripsApp {
    let database: any Database
    let alice = UserID.new(at: Date())
    let bob = UserID.new(at: Date())

    func send(_ request: RestRequest, as user: UserID? = nil) async throws -> RestAnswer {
      try await Trips.schema.answer(request, for: Caller(user ?? alice, at: Date()), in: database)
    }

    func get(_ table: String, _ query: String, as user: UserID? = nil) async throws -> String {
      try await send(RestRequest(.get, table, query: query), as: user).text
    }

    func post(
      _ table: String, _ json: String, _ query: String = "", prefer: [String] = [], as user: UserID? = nil
    ) async throws -> RestAnswer {
      try await send(RestRequest(.post, table, query: query, prefer: prefer, body: Array(json.utf8)), as: user)
    }

    func code(_ request: RestRequest, as user: UserID? = nil) async throws -> String? {
      do { _ = try await send(request, as: user) } catch let failure as RestFailure { return failure.code }
      return nil
    }
  }

  private func withTrips(_ engine: Engine, _ body: (TripsApp) async throws -> Void) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let database = try await testDatabase.open(Trips.database)
      try await body(TripsApp(database: database))
      await database.close()
    }
  }

  @Test(arguments: engines) func rowsBeyondATableBetweenAreEmbedded(engine: Engine) async throws {
    try await withTrips(engine) { app in
      let sights = try await app.post("sights", #"[{"name":"bridge"},{"name":"tower"},{"name":"zoo"}]"#).changedKeys
      let trips = try await app.post("trips", #"[{"name":"north"},{"name":"south"}]"#).changedKeys
      _ = try await app.post(
        "visits",
        """
        [{"trip_id":"\(trips[0])","sight_id":"\(sights[0])"},{"trip_id":"\(trips[0])","sight_id":"\(sights[1])"}]
        """)
      let hidden = #"{"trip_id":"\#(trips[0])","sight_id":"\#(sights[2])","is_secret":true}"#
      _ = try await app.post("visits", hidden, as: app.bob)
      #expect(
        try await app.get("trips", "select=name,sights(name)&order=name&sights.order=name.desc")
          == #"[{"name":"north","sights":[{"name":"tower"},{"name":"bridge"}]},{"name":"south","sights":[]}]"#)
      #expect(
        try await app.get("trips", "select=name,sights!inner(name)&sights.name=eq.tower")
          == #"[{"name":"north","sights":[{"name":"tower"}]}]"#)
      #expect(
        try await app.get("trips", "select=name,sights!visits(count)&order=name")
          == #"[{"name":"north","sights":[{"count":2}]},{"name":"south","sights":[{"count":0}]}]"#)
      #expect(try await app.get("trips", "select=name,sights()&sights=is.null") == #"[{"name":"south"}]"#)
      // From the other side, and for another caller: neither trips nor secret visits are theirs.
      #expect(try await app.get("sights", "select=trips(name)&name=eq.bridge") == #"[{"trips":[{"name":"north"}]}]"#)
      #expect(try await app.get("sights", "select=trips(name)&name=eq.zoo") == #"[{"trips":[]}]"#)
      #expect(try await app.get("sights", "select=trips(name)&name=eq.bridge", as: app.bob) == #"[{"trips":[]}]"#)
      #expect(try await app.code(RestRequest(.get, "trips", query: "select=...sights(name)")) == "PGRST119")
      #expect(
        try await app.code(RestRequest(.get, "trips", query: "select=sights(*)&order=sights(name)")) == "PGRST118")
    }
  }

  @Test(arguments: engines) func aServiceWritesItsRowsItself(engine: Engine) async throws {
    try await withTrips(engine) { app in
      let made = try await app.post("trips", #"{"name":"north","first_day":"Monday"}"#, "select=name,days")
      #expect(made.status == 201 && made.text == #"[{"name":"north","days":1}]"#)
      #expect(try await titles(app) == 1)
      let id = made.changedKeys[0]
      let changed = try await app.send(
        RestRequest(
          .patch, "trips", query: "id=eq.\(id)&select=name,ended_at",
          body: Array(#"{"name":"far north","ended_at":"2027-01-01T00:00:00Z"}"#.utf8)))
      #expect(changed.text == #"[{"name":"far north","ended_at":"2027-01-01T00:00:00Z"}]"#)

      let merge = "resolution=merge-duplicates,return=representation"
      let merged = try await app.post(
        "trips", #"[{"id":"\#(id)","name":"near"},{"id":"\#(ID<Any>.new(at: Date()))","name":"new"}]"#, "select=name",
        prefer: [merge])
      #expect(merged.status == 201 && merged.text == #"[{"name":"near"},{"name":"new"}]"#)
      let again = try await app.post("trips", #"{"id":"\#(id)","name":"near"}"#, "select=name", prefer: [merge])
      #expect(again.status == 200 && again.text == #"[{"name":"near"}]"#)
      let ignored = try await app.post(
        "trips", #"{"id":"\#(id)","name":"x"}"#, prefer: ["resolution=ignore-duplicates,return=representation"])
      #expect(ignored.text == "[]")

      // What is refused changes nothing: another's row, a column that is not a caller's.
      for (method, query, json, user, code) in [
        (RestRequest.Method.post, "", #"{"id":"\#(id)","name":"x"}"#, app.bob, "23505"),
        (.post, "", #"{"name":""}"#, app.alice, "23514"),
        (.post, "", #"{"name":"x","days":2}"#, app.alice, "42501"),
        (.post, "", #"{"name":"x","other":2}"#, app.alice, "PGRST204"),
        (.patch, "id=eq.\(id)", #"{"days":2}"#, app.alice, "42501"),
      ] {
        let request = RestRequest(method, "trips", query: query, body: Array(json.utf8))
        #expect(try await app.code(request, as: user) == code, "\(json)")
      }
      let theft = RestRequest(.post, "trips", prefer: [merge], body: Array(#"{"id":"\#(id)","name":"x"}"#.utf8))
      #expect(try await app.code(theft, as: app.bob) == "23505")
      #expect(try await app.send(RestRequest(.delete, "trips", query: "id=eq.\(id)"), as: app.bob).changedKeys.isEmpty)
      #expect(try await app.get("trips", "id=eq.\(id)&select=name") == #"[{"name":"near"}]"#)

      let strict = RestRequest(
        .delete, "trips", query: "days=eq.1", prefer: ["handling=strict,max-affected=1,return=representation"])
      #expect(try await app.code(strict) == "PGRST124")
      let deleted = try await app.send(
        RestRequest(.delete, "trips", query: "id=eq.\(id)&select=name", prefer: ["return=representation,count=exact"]))
      #expect(deleted.status == 200 && deleted.text == #"[{"name":"near"}]"#)
      #expect(deleted.header("content-range") == "*/1")
      #expect(try await titles(app) == 0)
      #expect(try await app.send(RestRequest(.delete, "trips", query: "days=eq.1")).status == 204)
      #expect(try await app.get("trips", "select=count") == #"[{"count":0}]"#)
    }
  }

  private func titles(_ app: TripsApp) async throws -> Int {
    try await app.database.read { try $0.rows("select title from trip_day").count }
  }
}
