import Database
import Foundation
import Support
import Testing

@testable import KithClient

/// Every call of `timepoints`, against the real server, which rehearses without a model.
@Suite struct TimepointAreaTests {
  @Test(arguments: engines) func aSceneIsMadeInEachOfThreeWays(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let client = try await stack.clientWithShortTokens("alice")
      let alice = client.timepoints
      var request = TimepointRequest("Storming of the Bastille, July 14, 1789 in Paris")
      request.visibility = .private
      let id = try await alice.generate(request, idempotencyKey: "one")
      #expect(try await alice.generate(request, idempotencyKey: "one") == id)
      let scene = try await alice.finished(id)
      #expect(scene.status == "completed" && scene.year == 1789 && scene.visibility == .private)
      #expect(scene.characters != nil && scene.scene != nil && scene.dialog != nil)
      let whole = try await alice.generateAndWait(TimepointRequest("Trinity test 1945"))
      #expect(whole.year == 1945 && whole.isFinished)
      var steps: [TimepointProgress] = []
      for try await step in alice.generating(TimepointRequest("Market day in Lübeck, 1356")) { steps.append(step) }
      #expect(steps.first?.event == "start" && steps.last?.event == "done" && steps.count > 5)
      let streamed = try #require(steps.last?.timepointID)
      #expect(try await alice.timepoint(streamed).query == "Market day in Lübeck, 1356")
      #expect(try await client.credits.balance().balance == 50 - 3 * 5)

      #expect(try await alice.mine().total == 3)
      #expect(try await alice.mine(status: "completed").items.map(\.id).contains(id))
      let stranger = try stack.kithClient().timepoints
      #expect(try await stranger.all().items.count == 2)
      let hidden = await #expect(throws: KithFailure.self) { try await stranger.timepoint(id) }
      guard case .refused(let refusal) = hidden else { throw Unexpected(reply: "\(hidden as Any)") }
      #expect(refusal.status == 403)
      #expect(try await alice.setVisibility(of: id, to: .public).visibility == .public)
      #expect(try await stranger.timepoint(id).id == id)
      try await alice.delete(id)
      #expect(try await alice.mine().total == 2)
    }
  }

  @Test(arguments: engines) func thePeopleInASceneAnswerAndTimeGoesOn(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let client = try await stack.clientWithShortTokens("alice")
      let alice = client.timepoints
      let scene = try await alice.generateAndWait(TimepointRequest("Trinity test 1945"))
      let lines = try await alice.dialog(in: scene.id, lineCount: 3)
      #expect(lines.count == 3)
      let name = try #require(lines.first?.speaker)
      #expect(try await alice.chat(with: name, in: scene.id, message: "What do you see?").characterName == name)
      let survey = try await alice.survey(["What do you fear?"], in: scene.id, characters: [name])
      #expect(survey.responses.map(\.characterName) == [name])
      let unknown = await #expect(throws: KithFailure.self) {
        try await alice.chat(with: "Nobody", in: scene.id, message: "Hello?")
      }
      #expect(unknown?.code?.text == "character_not_found")
      let jump = try await alice.jump(from: scene.id, .next, units: 2, of: .year)
      #expect(jump.sourceYear == 1945 && jump.targetYear == 1947)
      #expect(try await alice.sequence(around: scene.id).next.map(\.id) == [jump.targetID])
      #expect(try await client.credits.balance().balance == 50 - 5 - 3 - 2)
    }
  }

  /// Each answer is lost once, and asked for again with the same key.
  @Test func whatIsPaidIsPaidOnce() async throws {
    try await withStack(engines[0]) { stack in
      let transport = LosingTransport(losesFirstOf: "/api/v1/timepoints/generate", "/api/v1/temporal", "/chat")
      let client = try await stack.clientWithShortTokens("alice", transport: transport)
      let id = try await client.timepoints.generate(TimepointRequest("Trinity test 1945"))
      let scene = try await client.timepoints.finished(id)
      _ = try await client.timepoints.jump(from: id, .next)
      let name = try #require(try await client.timepoints.dialog(in: scene.id, lineCount: 1).first?.speaker)
      #expect(try await client.timepoints.chat(with: name, in: id, message: "What do you see?").characterName == name)
      #expect(transport.lost == 3)
      #expect(try await client.timepoints.mine().total == 2)
      // A scene, a jump, a dialog and a chat.
      #expect(try await client.credits.balance().balance == 50 - 5 - 2 - 1 - 1)
    }
  }

  @Test func aBrokenStreamShowsEachStepOnce() async throws {
    try await withStack(engines[0]) { stack in
      let transport = LosingTransport(breaksFirstOf: "/api/v1/timepoints/generate/stream")
      let client = try await stack.clientWithShortTokens("alice", transport: transport)
      var steps: [String] = []
      for try await step in client.timepoints.generating(TimepointRequest("Trinity test 1945")) {
        steps.append(step.step ?? step.event)
      }
      #expect(transport.lost == 1)
      #expect(steps.first == "initialization" && steps.last == "done" && Set(steps).count == steps.count)
      #expect(try await client.timepoints.mine().total == 1)
      #expect(try await client.credits.balance().balance == 45)
    }
  }
}
