import Foundation
import Support
import Testing
import Wire

@testable import Timepoints

@Suite struct PipelineTests {
  @Test func eachStepIsAskedExactlyOnceAndReportedInOrder() async throws {
    try await withGemini { gemini in
      try await withSceneMaker(gemini.settings) { maker in
        let events = ReportedEvents()
        let scene = try await maker.generation.pipeline.run(maker.input(image: true), store: maker.store) {
          events.add($0)
        }
        #expect(Dictionary(grouping: gemini.calls.steps) { $0 }.mapValues(\.count).values.allSatisfy { $0 == 1 })
        #expect(gemini.calls.all.count == PipelineStep.allCases.count)
        #expect(events.steps == PipelineStep.allCases)
        #expect(scene.timeline.year == -44)
        #expect(scene.timeline.yearText == "44 BCE")
        #expect(scene.characters.map(\.name) == SceneAnswers.names)
        #expect(scene.dialog.map(\.speaker) == ["Nikos", "Anna of the Gate"])
        #expect(scene.textModel == "gemini-3.5-flash-001")
        #expect(scene.image == ImageOutcome(hasImage: true, error: nil))
        // Declared as PNG.
        #expect(maker.store.image?.contentType == "image/jpeg")
        #expect(maker.store.image?.bytes == tinyJPEG)
      }
    }
  }

  @Test func withoutAPictureNoneIsAskedFor() async throws {
    try await withGemini { gemini in
      try await withSceneMaker(gemini.settings) { maker in
        let scene = try await maker.scene()
        #expect(scene.image == nil)
        #expect(scene.imageModel == nil)
        #expect(gemini.calls.count("image") == 0)
        #expect(scene.imagePrompt.prompt == "A rider before a gate.")
      }
    }
  }

  @Test(arguments: PipelineStep.allCases)
  func aRunThatIsKilledContinuesWhereItWas(_ step: PipelineStep) async throws {
    try await withGemini { gemini in
      try await withSceneMaker(gemini.settings) { maker in
        let input = maker.input(image: true)
        await #expect(throws: StepsUntil.Killed.self) {
          _ = try await maker.scene(input, in: StepsUntil(step: step, kept: maker.store))
        }
        let stored = Set(maker.store.saves.map(\.rawValue))
        let askedBefore = gemini.calls.all.count
        _ = try await maker.scene(input)
        let again = gemini.calls.steps.dropFirst(askedBefore).map { $0 == "image" ? "image_generation" : $0 }
        #expect(stored.isDisjoint(with: again))
        #expect(Set(again).union(stored) == Set(PipelineStep.allCases.map(\.rawValue)))
        #expect(maker.store.saves.count == PipelineStep.allCases.count)
        // Nothing at all is asked for a scene that is complete.
        let asked = gemini.calls.all.count
        let events = ReportedEvents()
        _ = try await maker.generation.pipeline.run(input, store: maker.store) { events.add($0) }
        #expect(gemini.calls.all.count == asked)
        #expect(events.steps == PipelineStep.allCases)
      }
    }
  }

  @Test func whenAStepFailsThoseBesideItAreKept() async throws {
    try await withGemini { gemini in
      gemini.calls.next(.writes("no"), for: "camera", times: 2)
      try await withSceneMaker(gemini.settings) { maker in
        #expect(await maker.failure() == .provider(.camera))
        let saved = Set(maker.store.saves)
        #expect(saved.isSuperset(of: [.judge, .timeline, .scene, .characters, .graph, .moment]))
        #expect(!saved.contains(.camera))
        _ = try await maker.scene()
        #expect(gemini.calls.count("moment") == 1)
        #expect(gemini.calls.count("camera") == 3)
      }
    }
  }

  @Test func aWrongAnswerIsAskedForOnceMoreWithTheMistake() async throws {
    try await withGemini { gemini in
      gemini.calls.next(.writes(#"{"is_moment": "perhaps", "title": "T", "reason": ""}"#), for: "judge")
      gemini.calls.next(.isCutOff(#"{"setting": "A ga"#), for: "scene")
      try await withSceneMaker(gemini.settings) { maker in
        _ = try await maker.scene()
        #expect(gemini.calls.count("judge") == 2)
        #expect(gemini.calls.count("scene") == 2)
        let turns = gemini.calls.all.filter { $0.step == "judge" }.last?.body["contents"]
        let texts = turns?.elements.compactMap { $0["parts"]?.elements.first?["text"]?.string } ?? []
        #expect(texts.count == 3)
        #expect(texts.last == "Your answer does not fit: is_moment must be boolean. Answer again in full.")
      }
    }
  }

  @Test(arguments: [
    ("timeline", #"{"year": 0}"#), ("timeline", "not JSON"), ("characters", #"{"characters": []}"#),
    ("graph", #"{"relationships": [{"from": "Nikos", "to": "X", "kind": "k", "description": "d"}]}"#),
    ("dialog", #"{"lines": [{"speaker": "Somebody", "text": "t", "tone": "t", "action": ""}]}"#),
    ("scene", ""),
  ])
  func twoWrongAnswersFailTheStep(_ step: String, _ answer: String) async throws {
    try await withGemini { gemini in
      gemini.calls.next(.writes(answer), for: step, times: 2)
      try await withSceneMaker(gemini.settings) { maker in
        #expect(await maker.failure() == .provider(PipelineStep(rawValue: step)))
        #expect(gemini.calls.count(step) == 2)
      }
    }
  }

  @Test(arguments: [
    (#""year": 0"#, "there is no year 0"),
    (#""year": 1900, "month": 2, "day": 29"#, "the month does not have that day"),
    (#""year": 1900, "day": 29"#, "a day needs its month"),
  ])
  func datesThatDoNotExistAreWrong(_ date: String, _ mistake: String) throws {
    let text = """
      {\(date), "time_of_day": "dawn", "era": "e", "location": "l", "historical_context": "h"}
      """
    let answer = try JSON.decode(JSONValue.self, from: Data(text.utf8))
    #expect(AnswerRules.mistakes(in: answer, of: .timeline, after: [:]) == [mistake])
    let leapDay = text.replacing(date, with: #""year": -5, "month": 2, "day": 29"#)
    let right = try JSON.decode(JSONValue.self, from: Data(leapDay.utf8))
    #expect(AnswerRules.mistakes(in: right, of: .timeline, after: [:]).isEmpty)
  }

  @Test func whatIsNoMomentIsRefusedKindlyAndNothingElseIsAsked() async throws {
    try await withGemini { gemini in
      let no = #"{"is_moment": false, "title": "2+2", "reason": "It is a sum."}"#
      gemini.calls.next(.writes(no), for: "judge")
      try await withSceneMaker(gemini.settings) { maker in
        let sentence = "That is not a moment in time. Name an event, a place or a year. It is a sum."
        #expect(await maker.failure() == .refused(sentence))
        #expect(gemini.calls.steps == ["judge"])
        // Nor when it is tried again.
        #expect(await maker.failure() == .refused(sentence))
        #expect(gemini.calls.steps == ["judge"])
        #expect(PipelineFailure.refused(sentence).failure.kind == .unprocessable)
      }
    }
  }

  @Test func aRefusalOfTheProviderIsNotTakenToAnother() async throws {
    try await withGemini { gemini in
      try await withOpenRouter { openRouter in
        gemini.calls.next(.refuses, for: "scene")
        try await withSceneMaker(gemini.settings.merging(openRouter.settings) { $1 }) { maker in
          #expect(await maker.failure() == .refused(PipelineFailure.refusal))
          #expect(openRouter.calls.all.isEmpty)
        }
      }
    }
  }

  @Test(arguments: [ModelCalls.Behavior.paintsNothing, .refuses, .paints(Data("GIF89a".utf8))])
  func aPictureThatFailsLeavesTheSceneComplete(_ behavior: ModelCalls.Behavior) async throws {
    try await withGemini { gemini in
      gemini.calls.next(behavior, for: "image", times: 20)
      try await withSceneMaker(gemini.settings) { maker in
        let events = ReportedEvents()
        let scene = try await maker.generation.pipeline.run(maker.input(image: true), store: maker.store) {
          events.add($0)
        }
        #expect(scene.image?.hasImage == false)
        #expect(scene.imageModel == nil)
        #expect(maker.store.image == nil)
        guard case .imageFailed(let message, false) = events.all.last else {
          Issue.record("no report of the picture")
          return
        }
        #expect(message == scene.image?.error)
        // It is not asked for again.
        let asked = gemini.calls.all.count
        _ = try await maker.scene(maker.input(image: true))
        #expect(gemini.calls.all.count == asked)
      }
    }
  }

  @Test func aJumpArrivesAtItsDateWhateverTheModelSays() async throws {
    try await withGemini { gemini in
      try await withSceneMaker(gemini.settings) { maker in
        let from = try await maker.scene()
        let target = from.timeline.date.moved(by: 50, .year)
        let base = JumpBase(scene: from, target: target, direction: .next, units: 50, unit: .year)
        let asked = gemini.calls.all.count
        let later = StepsInMemory()
        let scene = try await maker.scene(maker.input("50 years later", base: base), in: later)
        #expect(scene.timeline.year == 7)
        #expect(scene.timeline.month == 3)
        #expect(scene.timeline.day == 15)
        #expect(scene.title == "50 years later")
        let steps = gemini.calls.steps.dropFirst(asked)
        #expect(!steps.contains("judge"))
        let question = gemini.calls.all.dropFirst(asked).first?.text ?? ""
        #expect(question.contains(#"\"jump\":{"#))
      }
    }
  }

  @Test func cancelledRunsEndAtOnce() async throws {
    try await withGemini { gemini in
      gemini.calls.next(.hangs, for: "judge")
      try await withSceneMaker(gemini.settings) { maker in
        let run = Task { try await maker.scene() }
        try await eventually { gemini.calls.count("judge") == 1 }
        run.cancel()
        await #expect(throws: CancellationError.self) { _ = try await run.value }
        #expect(maker.store.saves.isEmpty)
      }
    }
  }
}
