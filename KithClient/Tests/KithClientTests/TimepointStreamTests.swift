import Foundation
import Testing

@testable import KithClient

/// Scenes and answers that come piece by piece, over streams that break.
@Suite struct TimepointStreamTests {
  private static func stream(_ events: String...) -> HTTPResponse {
    .json(events.map { "\($0)\n\n" }.joined(), headers: ["Content-Type": "text/event-stream"])
  }

  private static let token = #"data: {"event":"token","data":"Fine ","character_name":"Neil"}"#
  private static let secondToken = #"data: {"event":"token","data":"dust.","character_name":"Neil"}"#
  private static let done = """
    data: {"event":"done","data":{"character_name":"Neil","response":"Fine dust.","session_id":null,\
    "emotional_tone":null,"latency_ms":812},"character_name":null}
    """
  private static let reply = CharacterReply(
    characterName: "Neil", response: "Fine dust.", sessionID: nil, emotionalTone: nil, latencyMs: 812)

  private func said(
    by client: KithClient, key: String = "k"
  ) async throws -> [StreamedAnswer<String, CharacterReply>] {
    var all: [StreamedAnswer<String, CharacterReply>] = []
    let request = ChatRequest("What do you see?", to: "Neil")
    for try await part in client.timepoints.chatStream(request, in: "t", idempotencyKey: key) { all.append(part) }
    return all
  }

  @Test func wordsComeAsTheyAreSaidAndTheWholeAtTheEnd() async throws {
    let (client, transport) = try await KithClient.scripted { _, _ in
      Self.stream(":", Self.token, Self.secondToken, Self.done)
    }
    #expect(try await said(by: client) == [.piece("Fine "), .piece("dust."), .whole(Self.reply)])
    #expect(transport.requests.map { $0.headers["Accept"] } == ["text/event-stream"])
  }

  @Test func afterALostConnectionTheWholeComesWithTheSameKey() async throws {
    let (client, transport) = try await KithClient.scripted { _, count in
      count == 1
        ? Self.stream(Self.token)
        : count == 2
          ? .refusal(409, "idempotency_key_in_use", headers: ["Retry-After": "1"]) : Self.stream(Self.done)
    }
    #expect(try await said(by: client) == [.piece("Fine "), .whole(Self.reply)])
    #expect(transport.requests.map { $0.headers["Idempotency-Key"] } == ["k", "k", "k"])
  }

  @Test(arguments: [#","code":"provider_failed""#, ""])
  func anAnswerThatFailsAfterItsBeginningIsThrown(code: String) async throws {
    let (client, transport) = try await KithClient.scripted { _, _ in
      Self.stream(Self.token, #"data: {"event":"error","data":"The model has failed.","character_name":null\#(code)}"#)
    }
    let failure = await #expect(throws: KithFailure.self) { try await said(by: client) }
    // Servers of earlier versions name none.
    #expect(failure?.code == .known(code.isEmpty ? .answerFailed : .providerFailed))
    #expect(failure?.errorDescription == "The model has failed.")
    #expect(transport.requests.count == 1)
  }

  @Test(arguments: [(402, "insufficient_credits"), (403, "timepoint_private"), (404, "character_not_found")])
  func aRefusalIsThrownBeforeTheFirstWord(status: Int, code: String) async throws {
    let (client, transport) = try await KithClient.scripted { _, _ in .refusal(status, code) }
    let failure = await #expect(throws: KithFailure.self) { try await said(by: client) }
    #expect(failure?.code?.text == code && transport.requests.count == 1)
  }

  @Test func aServerThatIsNotThereIsGivenUp() async throws {
    let (client, transport) = try await KithClient.scripted { _, _ in throw NoAnswer("offline") }
    await #expect(throws: KithFailure.unreachable("offline")) { try await said(by: client) }
    #expect(transport.requests.count == 5)
  }

  @Test func linesAndAnswersComeOneByOne() async throws {
    let line = #"{"speaker":"Buzz","text":"Beautiful view.","tone":"moved","action":""}"#
    let (client, _) = try await KithClient.scripted { request, _ in
      guard request.url.path.contains("dialog") else {
        let answer = """
          {"character_name":"Neil","question":"Why?","response":"So.","sentiment":"neutral","key_points":[],\
          "emotional_tone":"calm"}
          """
        return Self.stream(
          #"data: {"event":"line","data":\#(answer),"character_name":"Neil"}"#,
          #"data: {"event":"done","data":{"timepoint_id":"t","questions":["Why?"],"responses":[\#(answer)],"#
            + #""summary":"All is well.","mode":"parallel","total_characters":1,"latency_ms":3}}"#)
      }
      return Self.stream(
        #"data: {"event":"line","data":\#(line),"character_name":"Buzz"}"#,
        #"data: {"event":"done","data":{"dialog":[\#(line)],"context":"The landing.","#
          + #""characters_involved":["Buzz"],"latency_ms":2100}}"#)
    }
    var lines: [StreamedAnswer<DialogLine, CharacterDialog>] = []
    for try await part in client.timepoints.dialogStream(in: "t") { lines.append(part) }
    let view = DialogLine(speaker: "Buzz", text: "Beautiful view.", tone: "moved", action: "")
    let whole = CharacterDialog(
      dialog: [view], context: "The landing.", charactersInvolved: ["Buzz"], latencyMs: 2100)
    #expect(lines == [.piece(view), .whole(whole)])
    var answers: [StreamedAnswer<CharacterSurvey.Answer, CharacterSurvey>] = []
    for try await part in client.timepoints.surveyStream(SurveyRequest(["Why?"]), in: "t") { answers.append(part) }
    guard case .piece(let answer) = answers.first, case .whole(let survey) = answers.last else {
      Issue.record("\(answers)")
      return
    }
    #expect(answer.response == "So." && survey.responses == [answer] && survey.summary == "All is well.")
  }

  private static let start = "id: 1\ndata: " + #"{"event": "start", "step": "initialization", "progress": 0}"#
  private static let judged = "id: 2\ndata: " + #"{"event": "step_complete", "step": "judge", "progress": 10}"#
  private static let made =
    "id: 3\ndata: " + #"{"event": "done", "progress": 100, "data": {"timepoint_id": "t", "status": "completed"}}"#

  @Test func eachStepOfASceneComesOnceOverBrokenStreams() async throws {
    let (client, transport) = try await KithClient.scripted { _, count in
      count == 1
        ? Self.stream(Self.start, Self.judged)
        : count == 2 ? .refusal(503, "too_busy") : Self.stream(Self.start, Self.judged, Self.made)
    }
    var steps: [String] = []
    for try await step in client.timepoints.generating(TimepointRequest("Trinity test 1945")) {
      steps.append(step.step ?? step.event)
    }
    #expect(steps == ["initialization", "judge", "done"])
    #expect(Set(transport.requests.map { $0.headers["Idempotency-Key"] }).count == 1)
  }

  @Test func theStepsOfASceneThatWasBegunAreReadOnByNumber() async throws {
    let (client, transport) = try await KithClient.scripted { _, count in
      count == 1 ? Self.stream(Self.start, Self.judged) : Self.stream(Self.made)
    }
    var last: TimepointProgress?
    for try await step in client.timepoints.progress(of: "t") { last = step }
    #expect(last?.timepointID == "t")
    #expect(transport.requests.map { $0.headers["Last-Event-ID"] } == [nil, "2"])
  }

  @Test func whoStopsReadingEndsTheRequest() async throws {
    let (client, _) = try await KithClient.scripted { _, _ in Self.stream(Self.token, Self.secondToken, Self.done) }
    for try await part in client.timepoints.chatStream(ChatRequest("Hi", to: "Neil"), in: "t") {
      #expect(part == .piece("Fine "))
      break
    }
  }
}
