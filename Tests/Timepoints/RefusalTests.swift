import Database
import Foundation
import Support
import Testing
import Wire

/// What a provider refuses is 422 with a kind sentence, whichever way it was asked for, and costs nothing.
@Suite struct RefusalTests {
  private static let kind = "This scene cannot be made. Please try another moment, or put it in other words."
  private static let notNow = "This cannot be answered. Please put it in other words."

  @Test(arguments: engines) func aRefusedSceneCostsNothing(_ engine: Engine) async throws {
    try await withGemini { gemini in
      try await withStack(engine, gemini.settings) { stack in
        let alice = try await stack.signIn("alice")
        try await stack.grant(100, to: alice)
        let before = try await alice.balance()
        gemini.calls.next(.refuses, for: "judge")
        gemini.calls.next(.refuses, for: "dialog", times: 2)
        let refused = try await alice.generate("The secret wedding")
        #expect(refused.status == 422 && refused.string("detail") == Self.kind, "\(refused.text)")
        #expect(refused.string("code") == "query_refused")
        var stream = try await TimepointStream(
          alice.browser, "/api/v1/timepoints/generate/stream", body: ["query": "The secret wedding"])
        let last = try #require(try await stream.all().last)
        #expect(last.name == "error" && last.json["error"] as? String == Self.kind)
        let begun = try await alice.browser.post("/api/v1/timepoints/generate", ["query": "The secret wedding"])
        let path = "/api/v1/timepoints/\(begun.string("id"))"
        try await eventually { try await alice.browser.get(path).string("status") == "failed" }
        let failed = try await alice.browser.get(path)
        #expect(failed.string("error") == Self.kind && failed.int("credits_charged") == 0)
        #expect(try await stack.gateway.get(path)["error"] is NSNull)
        // The one of the model's own judgement names what is missing.
        let answer = #"{"is_moment": false, "title": "-", "reason": "Please add a year."}"#
        gemini.calls.next(.writes(answer), for: "judge")
        let vague = try await alice.generate("Somewhere")
        #expect(vague.status == 422 && vague.string("detail").hasSuffix("Please add a year."), "\(vague.text)")
        try await stack.settled()
        #expect(try await alice.balance() == before)
        #expect(try await alice.held() == 0)
        #expect(try await alice.spent("generation").isEmpty)
        let own = try await alice.browser.get("/api/v1/users/me/timepoints?status=failed")
        #expect(own.int("total") == 4)
        try await expectOperatorsSeeFour(stack)
      }
    }
  }

  /// Without what users have written.
  private func expectOperatorsSeeFour(_ stack: TestStack) async throws {
    let admin = stack.timepoints.with(["X-Admin-Key": TestStack.adminKey])
    let seen = try await admin.get("/internal/timepoints/failed")
    #expect(seen.objects("failed").count == 4 && seen.objects("unfinished").isEmpty, "\(seen.text)")
    #expect(seen.objects("failed").allSatisfy { $0["code"] as? String == "query_refused" })
    #expect(!seen.text.contains("wedding") && !seen.text.contains("Somewhere"))
    #expect(try await admin.get("/internal/timepoints/failed?limit=1").objects("failed").count == 1)
    #expect(try await stack.gateway.with(admin.headers).get("/internal/timepoints/failed").status == 404)
  }

  @Test(arguments: engines) func aRefusedAnswerOrJumpCostsNothing(_ engine: Engine) async throws {
    try await withGemini { gemini in
      try await withStack(engine, gemini.settings) { stack in
        let alice = try await stack.signIn("alice")
        let made = try await alice.generate("The gate of Miletus")
        let (path, name) = ("/api/v1/interactions/\(made.string("id"))", SceneAnswers.names[0])
        let before = try await alice.balance()
        let bodies: [(route: String, step: String, body: [String: any Sendable])] = [
          ("chat", "chat", ["character": name, "message": "Say it"]), ("dialog", "dialog", ["num_lines": 2]),
          ("survey", "survey", ["questions": ["Why?"], "mode": "sequential"]),
          ("survey", "survey_summary", ["questions": ["Why?"]]),
          ("chat", "text", ["character": name, "message": "Say it", "response_format": "text"]),
        ]
        for (route, step, body) in bodies {
          gemini.calls.next(.refuses, for: step)
          let refused = try await alice.browser.post("\(path)/\(route)", body)
          #expect(refused.status == 422 && refused.string("detail") == Self.notNow, "\(route) \(refused.text)")
          #expect(try await alice.held() == 0, "\(route)")
        }
        gemini.calls.next(.refuses, for: "text")
        var stream = try await TimepointStream(alice.browser, "\(path)/chat/stream", body: bodies[0].body)
        let last = try #require(try await stream.all().last)
        #expect(last.name == "error" && last.text == Self.notNow)
        #expect(last.json["code"] as? String == "query_refused")
        gemini.calls.next(.refuses, for: "timeline")
        let jump = try await alice.browser.post("/api/v1/temporal/\(made.string("id"))/next")
        #expect(jump.status == 422 && jump.string("detail") == Self.kind, "\(jump.text)")
        try await stack.settled()
        #expect(try await alice.balance() == before)
        #expect(try await alice.held() == 0)
        #expect(try await alice.browser.post("\(path)/chat", bodies[0].body).status == 200, "the premise")
      }
    }
  }

  /// Unlike a refusal, which a repeated request gets again.
  @Test(arguments: engines) func aSceneThatFailedForAMomentIsBegunAnewWithTheSameKey(_ engine: Engine) async throws {
    try await withGemini { gemini in
      try await withStack(engine, gemini.settings) { stack in
        let alice = try await stack.signIn("alice")
        let (keyed, path) = (alice.browser.with(["Idempotency-Key": "once"]), "/api/v1/timepoints/generate/sync")
        gemini.calls.next(.writes("nonsense"), for: "scene", times: 2)
        #expect(try await keyed.post(path, ["query": "The gate of Miletus"]).status == 502)
        let made = try await keyed.post(path, ["query": "The gate of Miletus"])
        #expect(made.status == 200, "\(made.text)")
        #expect(try await keyed.post(path, ["query": "The gate of Miletus"]).string("id") == made.string("id"))
        let other = alice.browser.with(["Idempotency-Key": "twice"])
        gemini.calls.next(.refuses, for: "judge")
        for _ in 0..<2 { #expect(try await other.post(path, ["query": "The gate"]).status == 422) }
        try await stack.settled()
        #expect(try await alice.spent("generation").map(\.amount) == [-5])
      }
    }
  }
}
