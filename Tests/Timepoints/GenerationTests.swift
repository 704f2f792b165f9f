import Database
import Foundation
import Support
import Testing
import Wire

/// Scenes in one call, in the background, and as a stream: the same job each time.
@Suite struct GenerationTests {
  private static let query = "Apollo 11 moon landing 1969"

  @Test(arguments: engines) func aSceneComesInOneCallAndIsPaidOnce(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let before = try await alice.balance()
      let reply = try await alice.generate(Self.query, ["request_context": ["job": "7"]])
      #expect(reply.status == 200, "\(reply.text)")
      #expect(reply.string("status") == "completed")
      #expect(reply.string("query") == Self.query)
      #expect(reply.string("slug").hasPrefix("apollo-11-moon-landing-1969-"))
      #expect(reply.int("year") != nil && !reply.string("location").isEmpty)
      #expect(reply.int("credits_charged") == 5)
      #expect(reply.string("preset_used") == "balanced")
      #expect(reply.string("visibility") == "public")
      #expect(reply.string("render_type") == "image" && reply.int("generation_version") == 1)
      #expect(reply.object("request_context")["job"] as? String == "7")
      #expect(!(reply.object("characters")["characters"] as? [Any] ?? []).isEmpty)
      #expect(!reply.objects("dialog").isEmpty && !reply.object("moment").isEmpty)
      #expect(try await alice.balance() == before - 5)
      #expect(try await alice.held() == 0)
      let spent = try await alice.spent("generation")
      #expect(spent.map(\.amount) == [-5] && spent.first?.reference == reply.string("id"))
    }
  }

  @Test(arguments: engines) func aSceneInTheBackgroundIsPolled(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let begun = try await alice.browser.post("/api/v1/timepoints/generate", ["query": Self.query, "preset": "hd"])
      #expect(begun.status == 200, "\(begun.text)")
      #expect(begun.string("status") == "processing" && !begun.string("message").isEmpty)
      let path = "/api/v1/timepoints/\(begun.string("id"))"
      try await eventually { try await alice.browser.get(path).string("status") == "completed" }
      let brief = try await alice.browser.get(path)
      #expect(brief.int("credits_charged") == 10)
      #expect(brief["characters"] == nil && brief["scene"] == nil)
      #expect(!(try await alice.browser.get("\(path)?full=true")).object("scene").isEmpty)
    }
  }

  @Test(arguments: engines) func theStepsOfASceneAreStreamedThroughTheGateway(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      var stream = try await TimepointStream(
        alice.browser, "/api/v1/timepoints/generate/stream", body: ["query": Self.query])
      #expect(stream.status == 200 && stream.contentType == "text/event-stream")
      let events = try await stream.all()
      let steps = [
        "initialization", "judge", "timeline", "scene", "characters", "graph", "moment", "camera", "dialog",
        "image_prompt",
      ]
      #expect(events.map(\.name) == ["start"] + steps.dropFirst().map { _ in "step_complete" } + ["done"])
      #expect(events.dropLast().map(\.step) == steps)
      #expect(events.map(\.progress) == [0, 10, 20, 30, 50, 50, 65, 65, 80, 90, 100])
      #expect(events.map(\.id) == (1...events.count).map(String.init))
      let done = try #require(events.last).data
      #expect(done["status"] as? String == "completed" && done["saved"] as? Bool == true)
      let id = try #require(done["timepoint_id"] as? String)
      // Whoever comes back gets what is left, and only the owner does.
      var again = try await TimepointStream(alice.browser, "/api/v1/timepoints/\(id)/events", lastEventID: "9")
      #expect(try await again.all().map(\.id) == ["10", "11"])
      let bob = try await stack.signIn("bob")
      #expect(try await bob.browser.get("/api/v1/timepoints/\(id)/events").status == 403)
      #expect(try await stack.gateway.get("/api/v1/timepoints/\(id)/events").status == 401)
      #expect(
        try await alice.browser.with(["Last-Event-ID": "x"]).get("/api/v1/timepoints/\(id)/events").status == 400)
    }
  }

  @Test(arguments: engines) func whoHasTooFewCreditsLearnsThePriceAndBeginsNothing(_ engine: Engine) async throws {
    try await withStack(engine, ["SIGNUP_CREDITS": "9"]) { stack in
      let alice = try await stack.signIn("alice")
      for path in ["generate", "generate/sync", "generate/stream"] {
        let reply = try await alice.browser.post("/api/v1/timepoints/\(path)", ["query": Self.query, "preset": "hd"])
        #expect(reply.status == 402)
        #expect(reply.string("detail") == "Insufficient credits. This operation costs 10 credits.")
      }
      #expect(try await alice.balance() == 9)
      for table in ["timepoint", "generation_job", "charge"] {
        let rows: SQL = "\(SQL(stringLiteral: table))"
        #expect(try await stack.count(rows, in: "timepoints") == 0, "\(table)")
      }
      #expect(try await alice.generate(Self.query).status == 200, "the premise")
    }
  }

  @Test(arguments: engines) func aRequestThatIsRepeatedWithItsKeyIsPaidOnce(_ engine: Engine) async throws {
    // The clock runs while she asks.
    try await withStack(engine, ["JWT_ACCESS_EXPIRE_MINUTES": "1440"]) { stack in
      let alice = try await stack.signIn("alice")
      let before = try await alice.balance()
      let keyed = alice.browser.with(["Idempotency-Key": "once"])
      let replies = try await atOnce(8) { _ in
        try await keyed.post("/api/v1/timepoints/generate", ["query": Self.query])
      }
      #expect(Set(replies.map { $0.string("id") }).count == 1, "\(replies.map(\.text))")
      let other = try await keyed.post("/api/v1/timepoints/generate", ["query": "Another moment"])
      #expect(other.status == 422)
      // The holds of those that came too late are given back after a minute.
      try await eventually("the end of the holds", passing: .seconds(10), on: stack.clock) {
        try await stack.count("charge where lease is not null", in: "timepoints")
      } _: {
        try await alice.held() == 0
      }
      #expect(try await alice.balance() == before - 5)
    }
  }

  @Test(arguments: engines) func aRequestThatIsNotValidNamesEveryField(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let bodies: [([String: any Sendable], Set<String>)] = [
        (["query": "ab"], ["query"]), (["query": String(repeating: "a", count: 501)], ["query"]), ([:], ["query"]),
        (
          ["query": "abc", "visibility": "secret", "callback_url": "http://example.com"],
          ["visibility", "callback_url"]
        ),
        (["query": "abc", "request_context": ["a": String(repeating: "x", count: 17_000)]], ["request_context"]),
        (["query": "abc", "request_context": "text"], ["request_context"]),
      ]
      for (body, fields) in bodies {
        let reply = try await alice.browser.post("/api/v1/timepoints/generate", body)
        #expect(reply.status == 422, "\(reply.text)")
        #expect(Set(reply.objects("errors").compactMap { $0["field"] as? String }) == fields)
      }
      #expect(try await stack.gateway.post("/api/v1/timepoints/generate", ["query": "abc"]).status == 401)
      let unknown = try await alice.generate("The fall of Rome", ["preset": "unknown"])
      #expect(unknown.status == 200 && unknown.string("preset_used") == "balanced")
    }
  }
}
