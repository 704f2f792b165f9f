import Database
import Foundation
import Support
import Testing
import Web
import Wire

@testable import Timepoints

/// What is done when a provider does not answer as it should, with both of them.
@Suite struct ProviderTests {
  enum Party: String, CaseIterable {
    case google, openrouter

    var other: Party { self == .google ? .openrouter : .google }
  }

  /// Runs with one provider, or with both and this one first.
  private func with(
    _ party: Party, both: Bool = false, _ settings: [String: String] = [:], log: RecordedLog = RecordedLog(),
    _ body: (SceneMaker, _ asked: ModelCalls, _ other: ModelCalls, Preset) async throws -> Void
  ) async throws {
    try await withGemini { gemini in
      try await withOpenRouter { openRouter in
        let keys = [Party.google: gemini.settings, .openrouter: openRouter.settings]
        let used = both ? keys.values.reduce([:]) { $0.merging($1) { $1 } } : keys[party] ?? [:]
        let calls = [Party.google: gemini.calls, .openrouter: openRouter.calls]
        try await withSceneMaker(used.merging(settings) { $1 }, logger: log.logger) { maker in
          guard let asked = calls[party], let other = calls[party.other] else { return }
          try await body(maker, asked, other, party == .google ? .balanced : .gemini3)
        }
      }
    }
  }

  private static func limited(_ party: Party) -> ModelCalls.Behavior {
    switch party {
    case .google: .answers(status: 429, body: GeminiServer.limited(after: "0.01s"))
    case .openrouter:
      .answers(
        status: 429, body: OpenRouterServer.error(429, type: "rate_limit_exceeded"), headers: ["Retry-After": "0"])
    }
  }

  private static func overloaded(_ party: Party) -> ModelCalls.Behavior {
    switch party {
    case .google: .answers(status: 503, body: GeminiServer.overloaded)
    case .openrouter: .answers(status: 502, body: OpenRouterServer.error(502, type: "provider_unavailable"))
    }
  }

  private static func wrongKey(_ party: Party) -> ModelCalls.Behavior {
    switch party {
    case .google: .answers(status: 400, body: GeminiServer.keyError)
    case .openrouter: .answers(status: 401, body: OpenRouterServer.error(401, type: "authentication"))
    }
  }

  @Test(arguments: Party.allCases) func scenesComeFromEachProvider(_ party: Party) async throws {
    try await with(party) { maker, asked, other, preset in
      let scene = try await maker.scene(maker.input(preset: preset, image: true))
      #expect(scene.image?.hasImage == true)
      #expect(maker.store.image?.bytes == tinyJPEG)
      #expect(asked.all.count == PipelineStep.allCases.count)
      #expect(other.all.isEmpty)
      #expect(scene.textModel == (party == .google ? "gemini-3.5-flash-001" : "google/gemini-3.8-flash"))
    }
  }

  @Test(arguments: Party.allCases) func whatMaySucceedSoonIsRepeated(_ party: Party) async throws {
    try await with(party) { maker, asked, _, preset in
      asked.next(Self.limited(party), for: "judge")
      asked.next(Self.overloaded(party), for: "judge")
      asked.next(.breaksOff, for: "timeline")
      _ = try await maker.scene(maker.input(preset: preset))
      #expect(asked.count("judge") == 3)
      #expect(asked.count("timeline") == 2)
      #expect(asked.count("scene") == 1)
    }
  }

  @Test(arguments: Party.allCases) func anOverloadedProviderAloneIs503AndAfterFiveFailuresNotAsked(
    _ party: Party
  ) async throws {
    try await with(party) { maker, asked, _, preset in
      asked.next(Self.overloaded(party), for: "judge", times: 20)
      let input = maker.input(preset: preset)
      #expect(await maker.failure(input) == .overloaded(retryAfterSeconds: 5))
      #expect(asked.all.count == 3)
      #expect(await maker.failure(input)?.failure.kind == .unavailable)
      let failed = asked.all.count
      #expect(failed <= 6)
      guard case .overloaded(let seconds) = await maker.failure(input) else {
        Issue.record("not overloaded")
        return
      }
      #expect((1...30).contains(seconds))
      #expect(asked.all.count == failed)
      let name = ProviderName(rawValue: party.rawValue) ?? .rehearsal
      #expect(maker.generation.status[name] == .init(configured: true, answering: false))
    }
  }

  @Test(arguments: Party.allCases) func anotherProviderStepsIn(_ party: Party) async throws {
    for behavior in [Self.overloaded(party), Self.wrongKey(party), .breaksOff] {
      try await with(party, both: true) { maker, asked, other, preset in
        asked.next(behavior, for: "judge", times: 3)
        let scene = try await maker.scene(maker.input(preset: preset))
        #expect(other.count("judge") == 1)
        #expect(asked.count("judge") >= 1)
        #expect(scene.textModel.contains("gemini"))
      }
    }
  }

  @Test(arguments: Party.allCases) func aWrongKeyIs503AndNamesTheVariable(_ party: Party) async throws {
    let log = RecordedLog()
    try await with(party, log: log) { maker, asked, _, preset in
      asked.next(Self.wrongKey(party), for: "judge", times: 5)
      let variable = party == .google ? "GOOGLE_API_KEY" : "OPENROUTER_API_KEY"
      let failure = await maker.failure(maker.input(preset: preset))
      #expect(failure == .unconfigured(variable: variable))
      #expect(failure?.failure.kind == .unavailable)
      #expect(failure?.failure.message.contains(variable) == true)
      #expect(asked.all.count == 1)
      #expect(log.count(.error) == 1)
    }
  }

  @Test(arguments: Party.allCases) func aProviderThatSaysNothingTimesOut(_ party: Party) async throws {
    try await with(party, ["PROVIDER_TIMEOUT_SECONDS": "4"]) { maker, asked, _, preset in
      asked.next(.hangs, for: "judge")
      let failure = await maker.failure(maker.input(preset: preset))
      #expect(failure == .timedOut)
      #expect(failure?.failure.kind == .gatewayTimeout)
      #expect(asked.count("judge") == 1)
    }
  }

  @Test func aLongDelayParksTheProviderAndTheOtherStepsIn() async throws {
    for (delay, ofDay) in [("34.4s", false), ("2s", true)] {
      try await with(.google, both: true) { maker, asked, other, preset in
        asked.next(.answers(status: 429, body: GeminiServer.limited(after: delay, ofDay: ofDay)), for: "judge")
        _ = try await maker.scene(maker.input(preset: preset))
        // Not for the later steps either.
        #expect(asked.all.count == 1)
        #expect(other.all.count == PipelineStep.allCases.count - 1)
      }
    }
  }

  @Test func aQuotaForPicturesThatIsUsedUpStopsNoTexts() async throws {
    try await with(.google) { maker, asked, _, preset in
      let usedUp = ModelCalls.Behavior.answers(status: 429, body: GeminiServer.limited(after: "2s", ofDay: true))
      asked.next(usedUp, for: "image", times: 10)
      let scene = try await maker.scene(maker.input(preset: preset, image: true))
      #expect(scene.image == ImageOutcome(hasImage: false, error: "Too many pictures are being made."))
      // Each of the preset's two models once.
      #expect(asked.count("image") == 2)
      _ = try await maker.scene(maker.input(preset: preset, image: true), in: StepsInMemory())
      #expect(asked.count("image") == 2)
      #expect(asked.count("dialog") == 2)
    }
  }

  @Test func aModelThatIsRetiredIsPassedOver() async throws {
    try await with(.google, both: true) { maker, asked, other, preset in
      asked.next(.answers(status: 404, body: #"{"error":{"code":404,"status":"NOT_FOUND"}}"#), for: "judge")
      _ = try await maker.scene(maker.input(preset: preset))
      #expect(asked.count("judge") == 1)
      #expect(other.count("judge") == 1)
      // The provider itself is well.
      #expect(asked.count("timeline") == 1)
    }
  }

  @Test func moderationIsARefusalAndALackOfMoneyIsNot() async throws {
    let moderated = #","reasons":["violence"],"flagged_input":"x""#.dropFirst()
    try await with(.openrouter) { maker, asked, _, preset in
      asked.next(
        .answers(status: 403, body: OpenRouterServer.error(403, metadata: String(moderated))), for: "judge")
      #expect(await maker.failure(maker.input(preset: preset)) == .refused(PipelineFailure.refusal))
      asked.next(
        .answers(status: 402, body: OpenRouterServer.error(402), headers: ["Retry-After": "0"]), for: "judge")
      _ = try await maker.scene(maker.input(preset: preset))
      let later = StepsInMemory()
      asked.next(.answers(status: 402, body: OpenRouterServer.error(402, type: "payment_required")), for: "judge")
      await #expect(throws: PipelineFailure.unconfigured(variable: "OPENROUTER_API_KEY")) {
        _ = try await maker.scene(maker.input(preset: preset), in: later)
      }
    }
  }

  @Test func anErrorMayComeWith200() async throws {
    try await with(.openrouter) { maker, asked, _, preset in
      asked.next(.answers(status: 200, body: OpenRouterServer.error(502, type: "provider_unavailable")), for: "judge")
      asked.next(.answers(status: 200, body: "<html>"), for: "judge")
      _ = try await maker.scene(maker.input(preset: preset))
      #expect(asked.count("judge") == 3)
    }
  }

  @Test func neitherKeysNorQuestionsAreInLogsOrFailures() async throws {
    let log = RecordedLog()
    let secret = "the secret wedding of Nikos"
    try await with(.google, log: log) { maker, asked, _, preset in
      let echo = #"{"error":{"code":400,"message":"\#(secret) \#(GeminiServer.key)","status":"INVALID_ARGUMENT"}}"#
      asked.next(.answers(status: 400, body: echo), for: "judge")
      let failure = await maker.failure(maker.input(secret, preset: preset))
      #expect(asked.all.first?.text.contains(secret) == true)
      let said = log.lines.joined() + "\(String(describing: failure)) \(failure?.failure.message ?? "")"
      #expect(!log.lines.isEmpty)
      for word in [secret, "wedding", GeminiServer.key, "You write for an app"] { #expect(!said.contains(word)) }
    }
  }

  @Test(arguments: engines) func aRequestAndADayHaveABudget(_ engine: Engine) async throws {
    try await withGemini { gemini in
      // 100 tokens an answer.
      let settings = gemini.settings.merging(["PROVIDER_TOKENS_PER_DAY": "900"]) { $1 }
      let clock = TestClock()
      // No day ends while this test runs.
      clock.move(to: Date(timeIntervalSince1970: 1_800_000_000))
      try await withSceneMaker(settings, engine: engine, now: { clock.now }) { maker in
        _ = try await maker.scene()
        let day = String(RFC3339.seconds(clock.now).prefix(10))
        #expect(try await maker.usage.tokens(on: day) == 1000)
        let asked = gemini.calls.all.count
        await #expect(throws: PipelineFailure.self) { _ = try await maker.scene(nil, in: StepsInMemory()) }
        #expect(gemini.calls.all.count == asked)
        clock.advance(by: .seconds(86_400))
        _ = try await maker.scene(nil, in: StepsInMemory())
      }
      try await withSceneMaker(gemini.settings.merging(["PROVIDER_CALLS_PER_REQUEST": "12"]) { $1 }) { maker in
        gemini.calls.next(.answers(status: 503, body: GeminiServer.overloaded), for: "judge", times: 2)
        gemini.calls.next(.answers(status: 503, body: GeminiServer.overloaded), for: "timeline", times: 2)
        let asked = gemini.calls.all.count
        #expect(await maker.failure() == .budgetExhausted)
        #expect(gemini.calls.all.count == asked + 12)
      }
    }
  }
}
