import Database
import Foundation
import Support
import Testing
import Wire

/// Jumps in time make timepoints that are linked.
@Suite struct TimeTravelTests {
  private func entries(_ reply: Browser.Reply, _ name: String) -> [String] {
    reply.objects(name).compactMap { $0["id"] as? String }
  }

  @Test(arguments: engines) func aJumpIsATimepointOfItsOwnThatIsLinked(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      try await stack.grant(100, to: alice)
      let start = try await alice.generate("Apollo 11 moon landing 1969")
      let id = start.string("id")
      let before = try await alice.balance()
      let next = try await alice.browser.post("/api/v1/temporal/\(id)/next", ["units": 1, "unit": "year"])
      #expect(next.status == 200, "\(next.text)")
      #expect(next.string("source_id") == id && next.string("direction") == "next")
      #expect(next.int("target_year") == (start.int("year") ?? 0) + 1)
      #expect(try await alice.balance() == before - 2)
      #expect(try await alice.spent("temporal").first?.reference == next.string("target_id"))
      let later = try await alice.browser.post("/api/v1/temporal/\(id)/next", ["units": 2, "unit": "year"])
      let prior = try await alice.browser.post("/api/v1/temporal/\(id)/prior")
      let sequence = try await stack.gateway.get("/api/v1/temporal/\(id)/sequence")
      #expect(entries(sequence, "next") == [later.string("target_id")])
      #expect(entries(sequence, "prior") == [prior.string("target_id")])
      let back = try await stack.gateway.get(
        "/api/v1/temporal/\(next.string("target_id"))/sequence?direction=prior&limit=2")
      #expect(entries(back, "prior") == [id, prior.string("target_id")] && entries(back, "next") == [])
      let target = "/api/v1/timepoints/\(later.string("target_id"))"
      _ = try await alice.browser.send(.PATCH, "\(target)/visibility", json: ["visibility": "private"])
      #expect(
        entries(try await stack.gateway.get("/api/v1/temporal/\(id)/sequence"), "next") == [next.string("target_id")])
      let own = try await alice.browser.get("/api/v1/temporal/\(id)/sequence")
      #expect(entries(own, "next") == [later.string("target_id")])
    }
  }

  @Test(arguments: engines) func aJumpThatIsNotPossibleCostsNothing(_ engine: Engine) async throws {
    try await withStack(engine, ["SIGNUP_CREDITS": "6"]) { stack in
      let alice = try await stack.signIn("alice")
      let id = try await alice.generate("Apollo 11").string("id")
      let path = "/api/v1/temporal/\(id)/next"
      let poor = try await alice.browser.post(path)
      #expect(poor.status == 402 && poor.string("detail").contains("2 credits"))
      for body in [["units": 0], ["units": 366], ["unit": "century"]] as [[String: any Sendable]] {
        #expect(try await alice.browser.post(path, body).status == 422)
      }
      #expect(try await alice.browser.post("/api/v1/temporal/\(UUID())/next").status == 404)
      #expect(try await stack.gateway.post(path).status == 401)
      #expect(try await stack.gateway.get("/api/v1/temporal/\(id)/sequence?direction=x").status == 422)
      #expect(try await alice.balance() == 1)
    }
  }

  /// What the calendar's own tests have for all days, here through the service.
  @Test(arguments: [
    (query: "The death of Caesar in Rome, 44 BCE", way: "next", units: 44, unit: "year", from: -44, to: 1),
    (query: "A census in Bethlehem, 1 BCE", way: "next", units: 1, unit: "year", from: -1, to: 1),
    (query: "A winter in Judaea, 4 BCE", way: "next", units: 48, unit: "month", from: -4, to: 1),
    (query: "The year 100 in Rome", way: "prior", units: 100, unit: "year", from: 100, to: -1),
  ])
  func noJumpArrivesInTheYearNought(
    _ jump: (query: String, way: String, units: Int, unit: String, from: Int, to: Int)
  ) async throws {
    try await withStack(.sqlite) { stack in
      let alice = try await stack.signIn("alice")
      let made = try await alice.generate(jump.query)
      #expect(made.int("year") == jump.from, "\(made.text)")
      let path = "/api/v1/temporal/\(made.string("id"))/\(jump.way)"
      let reply = try await alice.browser.post(path, ["units": jump.units, "unit": jump.unit])
      #expect(reply.int("source_year") == jump.from && reply.int("target_year") == jump.to, "\(reply.text)")
      let target = try await alice.browser.get("/api/v1/timepoints/\(reply.string("target_id"))?full=true")
      #expect(target.int("year") == jump.to && target.object("metadata")["parent_id"] as? String == made.string("id"))
    }
  }

  @Test(arguments: engines) func aLeapDayBecomesTheLastOfFebruary(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let made = try await alice.generate("February 29, 2024 in Paris")
      #expect([made.int("year"), made.int("month"), made.int("day")] == [2024, 2, 29], "\(made.text)")
      let jumps: [(units: Int, date: [Int?])] = [(1, [2025, 2, 28]), (4, [2028, 2, 29])]
      for (units, date) in jumps {
        let path = "/api/v1/temporal/\(made.string("id"))/next"
        let jump = try await alice.browser.post(path, ["units": units, "unit": "year"])
        let target = try await alice.browser.get("/api/v1/timepoints/\(jump.string("target_id"))")
        #expect([target.int("year"), target.int("month"), target.int("day")] == date)
      }
    }
  }
}
