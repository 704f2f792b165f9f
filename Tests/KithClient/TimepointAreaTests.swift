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
      let dialog = try await alice.dialog(DialogRequest(lineCount: 3), in: scene.id)
      #expect(dialog.dialog.count == 3 && dialog.charactersInvolved?.isEmpty == false)
      let name = try #require(dialog.dialog.first?.speaker)
      let reply = try await alice.chat(ChatRequest("What do you see?", to: name), in: scene.id)
      #expect(reply.characterName == name && reply.sessionID == nil)
      let survey = try await alice.survey(SurveyRequest(["What do you fear?"], characters: [name]), in: scene.id)
      #expect(survey.responses.map(\.characterName) == [name] && survey.summary != nil)
      let unknown = await #expect(throws: KithFailure.self) {
        try await alice.chat(ChatRequest("Hello?", to: "Nobody"), in: scene.id)
      }
      #expect(unknown?.code == .known(.characterNotFound))
      let jump = try await alice.jump(from: scene.id, .next, units: 2, of: .year)
      #expect(jump.sourceYear == 1945 && jump.targetYear == 1947)
      #expect(try await alice.sequence(around: scene.id).next.map(\.id) == [jump.targetID])
      #expect(try await alice.sequence(around: scene.id, .prior).next.isEmpty)
      #expect(try await client.credits.balance().balance == 50 - 5 - 3 - 2)
    }
  }

  @Test(arguments: engines) func answersAreStreamedAndConversationsSaved(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let client = try await stack.clientWithShortTokens("alice")
      let alice = client.timepoints
      let scene = try await alice.generateAndWait(TimepointRequest("Trinity test 1945"))
      let name = try #require(try await alice.characters(of: scene.id).characters.first?.name)
      let request = ChatRequest("What do you see?", to: name, isSaved: true)
      let (words, reply) = try await Self.parts(alice.chatStream(request, in: scene.id))
      #expect(!words.isEmpty && words.joined() == reply.response)
      let session = try #require(reply.sessionID)
      let next = try await alice.chat(ChatRequest("And now?", to: name, in: session), in: scene.id)
      #expect(next.sessionID == session)
      let listed = try await alice.conversations(in: scene.id)
      #expect(listed.map(\.id) == [session] && listed.first?.messageCount == 4)
      let saved = try await alice.conversation(session)
      #expect(saved.messages.map(\.role) == [.user, .assistant, .user, .assistant])
      let stranger = try await stack.clientWithShortTokens("bob").timepoints
      let hidden = await #expect(throws: KithFailure.self) { try await stranger.conversation(session) }
      #expect(hidden?.code == .known(.sessionNotFound))
      try await alice.deleteConversation(session)
      #expect(try await alice.conversations(in: scene.id).isEmpty)

      let (lines, dialog) = try await Self.parts(alice.dialogStream(DialogRequest(lineCount: 2), in: scene.id))
      #expect(lines.count == 2 && dialog.dialog == lines)
      let questions = SurveyRequest(["What do you fear?"], characters: [name], hasSummary: false)
      let (answers, survey) = try await Self.parts(alice.surveyStream(questions, in: scene.id))
      #expect(survey.responses == answers && survey.summary == nil)
      let unknown = await #expect(throws: KithFailure.self) {
        try await Self.parts(alice.chatStream(ChatRequest("Hello?", to: "Nobody"), in: scene.id))
      }
      #expect(unknown?.code == .known(.characterNotFound))
      #expect(try await client.credits.balance().balance == 50 - 5 - 4)
    }
  }

  private static func parts<Piece: Sendable & Equatable, Whole: Sendable & Equatable>(
    _ stream: AsyncThrowingStream<StreamedAnswer<Piece, Whole>, any Error>
  ) async throws -> (pieces: [Piece], whole: Whole) {
    var (pieces, whole): ([Piece], Whole?) = ([], nil)
    for try await part in stream {
      switch part {
      case .piece(let piece): pieces.append(piece)
      case .whole(let answer): whole = answer
      }
    }
    return (pieces, try #require(whole))
  }

  @Test(arguments: engines) func aSceneIsReadInEveryWay(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.clientWithShortTokens("alice").timepoints
      var request = TimepointRequest("Trinity test 1945")
      request.generateImage = true
      request.requestContext = ["my_id": 1]
      let id = try await alice.generate(request)
      var steps: [TimepointProgress] = []
      for try await step in alice.progress(of: id) { steps.append(step) }
      #expect(steps.first?.event == "start" && steps.last?.timepointID == id)
      let scene = try await alice.timepoint(id, full: true, includingImage: true)
      #expect(scene.hasImage == true && scene.requestContext?["my_id"] == 1 && scene.creditsCharged == 5)
      #expect(scene.metadata?.timeline?.year == 1945 && scene.moment?.summary?.isEmpty == false)
      #expect(try await alice.timepoint(slug: scene.slug).id == id)
      #expect(try await alice.export(id).dialog == scene.dialog)
      #expect(try await alice.all(status: "completed", visibility: .public).items.map(\.id) == [id])

      let image = try await alice.image(of: id)
      #expect(image.starts(with: [0xFF, 0xD8]) && image == scene.imageBase64)
      #expect(try await alice.image(of: id) == image)
      #expect(try await alice.image(of: id, pixelsMax: 320).count < image.count)
      let part = try await alice.image(of: id, bytes: 0...9)
      #expect(part.data == image.prefix(10) && part.totalByteCount == image.count)
      let behind = await #expect(throws: KithFailure.self) {
        try await alice.image(of: id, bytes: image.count...image.count + 1)
      }
      #expect(behind?.code == .known(.rangeNotSatisfiable))

      let models = try await alice.models()
      #expect(models.isRehearsal && models.models.contains { $0.id == "rehearsal" })
      #expect(try await alice.models(onlyFree: true).models.allSatisfy(\.isFree))
      #expect(try await alice.model("rehearsal").makes == "text")
      #expect(try await alice.modelProviders()["google"]?.configured == false)
      try await alice.delete(id, isPermanent: true)
      let gone = await #expect(throws: KithFailure.self) { try await alice.timepoint(id) }
      #expect(gone?.code == .known(.timepointNotFound))
    }
  }

  @Test func anAnswerWhoseStreamBreaksComesWholeAndIsPaidOnce() async throws {
    try await withStack(engines[0]) { stack in
      let transport = LosingTransport(breaksFirstOf: "/chat/stream")
      let client = try await stack.clientWithShortTokens("alice", transport: transport)
      let scene = try await client.timepoints.generateAndWait(TimepointRequest("Trinity test 1945"))
      let name = try #require(scene.characters?.characters.first?.name)
      let (_, reply) = try await Self.parts(
        client.timepoints.chatStream(ChatRequest("What do you see?", to: name), in: scene.id))
      #expect(transport.lost == 1 && !reply.response.isEmpty)
      #expect(try await client.credits.balance().balance == 50 - 5 - 1)
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
      let dialog = try await client.timepoints.dialog(DialogRequest(lineCount: 1), in: scene.id)
      let name = try #require(dialog.dialog.first?.speaker)
      let reply = try await client.timepoints.chat(ChatRequest("What do you see?", to: name), in: id)
      #expect(reply.characterName == name)
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
