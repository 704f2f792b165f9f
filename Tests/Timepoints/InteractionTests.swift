import Database
import Foundation
import Support
import Testing
import Wire

/// The people in a scene answer, for a credit each time.
@Suite struct InteractionTests {
  private func withScene(
    _ engine: Engine, _ body: (TestStack, SignedInUser, _ path: String, _ name: String) async throws -> Void
  ) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let made = try await alice.generate("Apollo 11")
      let people = made.object("characters")["characters"] as? [[String: Any]] ?? []
      let name = try #require(people.first?["name"] as? String, "\(made.text)")
      try await body(stack, alice, "/api/v1/interactions/\(made.string("id"))", name)
    }
  }

  @Test(arguments: engines) func aCharacterAnswersAndOnlyASavedSessionStays(_ engine: Engine) async throws {
    try await withScene(engine) { stack, alice, path, name in
      let before = try await alice.balance()
      let reply = try await alice.browser.post("\(path)/chat", ["character": name, "message": "Where are you?"])
      #expect(reply.status == 200, "\(reply.text)")
      #expect(reply.string("character_name") == name && !reply.string("response").isEmpty)
      #expect(reply["session_id"] is NSNull && reply.int("latency_ms") != nil)
      #expect(try await alice.balance() == before - 1)
      #expect(try await alice.held() == 0)
      #expect(try await stack.count("character_chat", in: "timepoints") == 0)
      let saved = try await alice.browser.post(
        "\(path)/chat", ["character": name, "message": "And now?", "save_session": true])
      let session = saved.string("session_id")
      _ = try await alice.browser.post(
        "\(path)/chat", ["character": name, "message": "And then?", "session_id": session])
      let shown = try await alice.browser.get("/api/v1/interactions/session/\(session)")
      #expect(
        shown.objects("messages").compactMap { $0["role"] as? String } == ["user", "assistant", "user", "assistant"])
      let list = try await alice.browser.get("/api/v1/interactions/sessions/\(path.split(separator: "/").last ?? "")")
      #expect(list.int("total") == 1)
      let bob = try await stack.signIn("bob")
      #expect(try await bob.browser.get("/api/v1/interactions/session/\(session)").status == 404)
      #expect(try await bob.browser.delete("/api/v1/interactions/session/\(session)").status == 404)
      let stolen = try await bob.browser.post(
        "\(path)/chat", ["character": name, "message": "x", "session_id": session])
      #expect(stolen.status == 404 && stolen.string("code") == "session_not_found")
      #expect(try await alice.browser.delete("/api/v1/interactions/session/\(session)").status == 200)
      #expect(try await stack.count("character_chat_message", in: "timepoints") == 0)
    }
  }

  @Test(arguments: engines) func whatIsWrongIsRefusedBeforeItCosts(_ engine: Engine) async throws {
    try await withScene(engine) { stack, alice, path, name in
      let before = try await alice.balance()
      let unknown = try await alice.browser.post("\(path)/chat", ["character": "Nobody Here", "message": "a"])
      #expect(unknown.status == 404 && unknown.string("detail").contains(name))
      let bodies: [(String, [String: any Sendable])] = [
        ("chat", ["character": name, "message": ""]), ("chat", ["character": name, "message": "a", "session_id": "x"]),
        ("chat", ["character": name, "message": "a", "response_format": "x"]), ("dialog", ["num_lines": 11]),
        ("survey", ["questions": [String]()]), ("survey", ["questions": ["a"], "mode": "x"]),
      ]
      for (route, body) in bodies {
        for suffix in ["", "/stream"] {
          #expect(try await alice.browser.post("\(path)/\(route)\(suffix)", body).status == 422, "\(route) \(body)")
        }
      }
      #expect(try await alice.balance() == before)
      _ = try await alice.browser.post("\(path)/dialog")
      #expect(try await alice.balance() == before - 1, "the premise")
    }
  }

  @Test(arguments: engines) func dialogsAndSurveysAreOneOperationEach(_ engine: Engine) async throws {
    try await withScene(engine) { _, alice, path, name in
      let before = try await alice.balance()
      let dialog = try await alice.browser.post("\(path)/dialog", ["num_lines": 3])
      #expect(dialog.status == 200 && dialog.objects("dialog").count == 3, "\(dialog.text)")
      let survey = try await alice.browser.post(
        "\(path)/survey", ["characters": [name], "questions": ["What do you see?", "What do you fear?"]])
      #expect(survey.status == 200 && survey.objects("responses").count == 2, "\(survey.text)")
      #expect(!survey.string("summary").isEmpty && survey.int("total_characters") == 1)
      #expect(
        survey.objects("responses").compactMap { $0["question"] as? String } == [
          "What do you see?", "What do you fear?",
        ])
      #expect(try await alice.balance() == before - 2)
      #expect(try await alice.spent("chat").count == 2)
    }
  }

  @Test(arguments: engines) func answersAreStreamed(_ engine: Engine) async throws {
    try await withScene(engine) { _, alice, path, name in
      let before = try await alice.balance()
      var chat = try await TimepointStream(
        alice.browser, "\(path)/chat/stream", body: ["character": name, "message": "Hello"])
      let events = try await chat.all()
      let tokens = events.filter { $0.name == "token" }
      #expect(!tokens.isEmpty && events.last?.name == "done")
      #expect(events.last?.data["response"] as? String == tokens.map(\.text).joined())
      #expect(tokens.allSatisfy { $0.json["character_name"] as? String == name })
      var dialog = try await TimepointStream(alice.browser, "\(path)/dialog/stream", body: ["num_lines": 2])
      #expect(try await dialog.all().map(\.name) == ["line", "line", "done"])
      var survey = try await TimepointStream(
        alice.browser, "\(path)/survey/stream", body: ["characters": [name], "questions": ["a?", "b?"]])
      #expect(try await survey.all().map(\.name) == ["line", "line", "done"])
      try await eventually { try await alice.balance() == before - 3 }
    }
  }

  @Test(arguments: engines) func whoRepeatsARequestWithItsKeyHasPaidOnce(_ engine: Engine) async throws {
    try await withScene(engine) { stack, alice, path, name in
      let keyed = alice.browser.with(["Idempotency-Key": "once"])
      let body: [String: any Sendable] = ["character": name, "message": "Where are you?", "save_session": true]
      let before = try await alice.balance()
      let first = try await keyed.post("\(path)/chat", body)
      let again = try await keyed.post("\(path)/chat", body)
      #expect(first.status == 200 && again.text == first.text)
      #expect(again.headers.first(name: "idempotency-hit") == "true")
      #expect(try await keyed.post("\(path)/chat", ["character": name, "message": "Another"]).status == 422)
      var stream = try await TimepointStream(keyed, "\(path)/chat/stream", body: body)
      let told = try #require(try await stream.all().last).data["response"] as? String
      var repeated = try await TimepointStream(keyed, "\(path)/chat/stream", body: body)
      let events = try await repeated.all()
      #expect(events.map(\.name) == ["done"] && events.first?.data["response"] as? String == told)
      #expect(try await alice.balance() == before - 2)
      #expect(try await stack.count("character_chat", in: "timepoints") == 2)
      // Too few credits are no answer: the key is good for another try.
      let bob = try await stack.signIn("bob")
      let poor = bob.browser.with(["Idempotency-Key": "once"])
      for _ in 0..<10 { _ = try await bob.generate("Apollo 11") }
      #expect(try await poor.post("\(path)/dialog").status == 402)
      try await stack.grant(1, to: bob)
      #expect(try await poor.post("\(path)/dialog").status == 200)
      #expect(try await bob.balance() == 0)
    }
  }

  @Test(arguments: engines) func theFormOfAnAnswerIsThatWhichWasAskedFor(_ engine: Engine) async throws {
    try await withScene(engine) { _, alice, path, name in
      func body(_ format: String) -> [String: any Sendable] {
        ["character": name, "message": "Where are you?", "response_format": format]
      }
      #expect(try await alice.browser.post("\(path)/chat", body("text"))["emotional_tone"] is NSNull)
      for format in ["structured", "auto"] {
        let reply = try await alice.browser.post("\(path)/chat", body(format))
        #expect(!reply.string("emotional_tone").isEmpty, "\(format)")
      }
      for (format, isWhole) in [("structured", true), ("text", false), ("auto", false)] {
        var stream = try await TimepointStream(alice.browser, "\(path)/chat/stream", body: body(format))
        let events = try await stream.all()
        #expect((events.count == 2) == isWhole, "\(format)")
        #expect((events.last?.data["emotional_tone"] is String) == isWhole, "\(format)")
      }
    }
  }
}
