import Foundation
import Support
import Testing
import Wire

@testable import Timepoints

@Suite struct VoiceTests {
  private func with(
    google: Bool, _ body: (any CharacterVoices, GeneratedScene, ModelCalls) async throws -> Void
  ) async throws {
    try await withGemini { gemini in
      try await withOpenRouter { openRouter in
        try await withSceneMaker(google ? gemini.settings : openRouter.settings) { maker in
          let scene = try await maker.scene()
          try await body(maker.generation.voices, scene, google ? gemini.calls : openRouter.calls)
        }
      }
    }
  }

  private func pieces(_ stream: AsyncThrowingStream<String, any Error>) async throws -> [String] {
    var pieces: [String] = []
    for try await piece in stream { pieces.append(piece) }
    return pieces
  }

  @Test(arguments: [true, false]) func aCharacterAnswersInPieces(_ google: Bool) async throws {
    try await with(google: google) { voices, scene, calls in
      let pieces = try await pieces(
        voices.replyPieces(to: "What do you see?", by: scene.characters[0], in: scene, history: [], model: nil))
      #expect(pieces.joined() == SceneAnswers.words)
      #expect(pieces.count >= 3)
      #expect(calls.all.last?.isStream == true)
    }
  }

  @Test(arguments: [true, false]) func aStreamThatBreaksOffIsNoAnswer(_ google: Bool) async throws {
    try await with(google: google) { voices, scene, calls in
      let cut =
        google
        ? #"data: {"candidates":[{"content":{"parts":[{"text":"Je"}]}}]}"#
        : #"data: {"choices":[{"delta":{"content":"Je"},"finish_reason":null}]}"#
      for behavior in [ModelCalls.Behavior.breaksOff, .streams([cut + "\n\n"])] {
        calls.next(behavior, for: "text", times: 3)
        let asked = calls.count("text")
        await #expect(throws: PipelineFailure.provider(nil)) {
          _ = try await self.pieces(
            voices.replyPieces(to: "Hello", by: scene.characters[0], in: scene, history: [], model: nil))
        }
        // Not again after the first piece. The next ones are used up.
        #expect(calls.count("text") == asked + 1)
        for _ in 0..<2 {
          _ = try? await self.pieces(
            voices.replyPieces(to: "Hello", by: scene.characters[0], in: scene, history: [], model: nil))
        }
      }
    }
  }

  @Test func anErrorAfterTheFirstPieceEndsTheStream() async throws {
    let begun = #"data: {"candidates":[{"content":{"parts":[{"text":"Je"}]}}]}"# + "\r\n\r\n"
    for (google, ends) in [
      (true, begun + GeminiServer.overloaded),
      (true, begun + #"data: {"error":{"code":503,"status":"UNAVAILABLE"}}"# + "\n\n"),
      (
        false,
        #"data: {"choices":[{"delta":{"content":"Je"}}]}"# + "\n\n"
          + #"data: {"error":{"code":"server_error"},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}"#
          + "\n\n"
      ),
    ] {
      try await with(google: google) { voices, scene, calls in
        calls.next(.streams([ends]), for: "text")
        await #expect(throws: PipelineFailure.overloaded(retryAfterSeconds: 5)) {
          _ = try await self.pieces(
            voices.replyPieces(to: "Hello", by: scene.characters[0], in: scene, history: [], model: nil))
        }
      }
    }
  }

  @Test func anErrorBeforeTheFirstPieceIsRepeated() async throws {
    try await with(google: true) { voices, scene, calls in
      calls.next(.answers(status: 503, body: "[\(GeminiServer.overloaded)]"), for: "text")
      let pieces = try await pieces(
        voices.replyPieces(to: "Hello", by: scene.characters[0], in: scene, history: [], model: nil))
      #expect(pieces.joined() == SceneAnswers.words)
      #expect(calls.count("text") == 2)
    }
  }

  @Test(arguments: [true, false]) func aRefusedStreamIsARefusal(_ google: Bool) async throws {
    try await with(google: google) { voices, scene, calls in
      let filtered = #"data: {"choices":[{"delta":{"content":""},"finish_reason":"content_filter"}]}"# + "\n\n"
      calls.next(google ? .refuses : .streams([filtered]), for: "text")
      await #expect(throws: PipelineFailure.refused(PipelineFailure.refusal)) {
        _ = try await self.pieces(
          voices.replyPieces(to: "Hello", by: scene.characters[0], in: scene, history: [], model: nil))
      }
    }
  }

  @Test func charactersReplySpeakAndAnswerSurveys() async throws {
    try await with(google: false) { voices, scene, _ in
      let anna = scene.characters[0]
      let reply = try await voices.reply(to: "What?", by: anna, in: scene, history: [], model: nil)
      #expect(reply.response == "I have seen it.")
      #expect(reply.emotionalTone == "calm")
      let lines = try await voices.lines(1, of: scene.characters, in: scene, topic: "bread", after: [], model: nil)
      #expect(lines.map(\.speaker) == ["Nikos"])
      let answer = try await voices.answer(to: "Do you fear it?", by: anna, in: scene, earlier: [], model: nil)
      #expect(answer.characterName == anna.name)
      #expect(answer.sentiment == .negative)
      #expect(try await voices.summary(of: [answer], in: scene, model: nil) == "All of them fear it.")
      // Nikos is not among those who are to speak.
      await #expect(throws: PipelineFailure.provider(nil)) {
        _ = try await voices.lines(1, of: [anna], in: scene, topic: nil, after: [], model: nil)
      }
    }
  }

  @Test func onlyTheEndOfALongConversationIsSent() async throws {
    try await with(google: true) { voices, scene, calls in
      let history = (0..<500).map { ChatTurn(speaker: .user, text: "turn \($0) " + String(repeating: "x", count: 900)) }
      _ = try await voices.reply(to: "now", by: scene.characters[0], in: scene, history: history, model: nil)
      let text = calls.all.last?.text ?? ""
      #expect(text.contains("turn 499 "))
      #expect(!text.contains("turn 400 "))
      #expect(text.utf8.count < 60_000)
    }
  }
}
