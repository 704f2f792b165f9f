import Foundation
import Support
import Testing
import Web
import Wire

@testable import Timepoints

@Suite struct RehearsalTests {
  @Test func withoutAKeyInDevelopmentTheSameQueryMakesTheSameScene() async throws {
    try await withSceneMaker([:]) { maker in
      let input = maker.input("Storming of the Bastille, July 14, 1789 in Paris", image: true)
      let scene = try await maker.scene(input)
      let again = try await maker.scene(input, in: StepsInMemory())
      #expect(scene == again)
      #expect(scene.textModel == "rehearsal")
      #expect(scene.imageModel == "rehearsal-image")
      #expect([scene.timeline.year, scene.timeline.month, scene.timeline.day] == [1789, 7, 14])
      #expect(scene.timeline.location == "Paris")
      #expect(maker.store.image?.bytes == tinyJPEG)
      let other = try await maker.scene(maker.input("The gate of Miletus"), in: StepsInMemory())
      #expect(other.characters != scene.characters || other.scene != scene.scene)
      #expect(maker.generation.catalog.models.map(\.id) == ["rehearsal", "rehearsal-image"])
      #expect(maker.generation.status.isRehearsal)
    }
  }

  @Test(arguments: [
    ("Caesar's death, 44 BCE", -44), ("Battle of Marathon 490 BC", -490), ("Trinity test 1945", 1945),
    ("Coronation in 800", 800), ("12 apostles", nil), ("Party of 5", nil),
  ])
  func yearsAreReadFromTheQuery(_ query: String, _ year: Int?) {
    #expect(QueryReader(query).year == year)
  }

  @Test(arguments: ["2+2", "???", "1 < 2", "👍👍👍"]) func whatHasNoWordsIsRefused(_ query: String) async throws {
    try await withSceneMaker([:]) { maker in
      guard case .refused = await maker.failure(maker.input(query)) else {
        Issue.record("not refused: \(query)")
        return
      }
    }
  }

  @Test func anyQueryMakesAScene() async throws {
    var random = SeededRandom(seed: 7)
    let characters = Array("abc XYZ 0123456789 -–—'\"<>{}\\/\n\t\u{0}\u{202E}äöü漢字🔥\u{1F468}\u{200D}")
    try await withSceneMaker([:]) { maker in
      for _ in 0..<200 {
        let length = Int.random(in: 3...500, using: &random)
        let text = String((0..<length).compactMap { _ in characters.randomElement(using: &random) })
        let scene = try await maker.scene(maker.input("a" + text, image: true), in: StepsInMemory())
        #expect(scene.timeline.year != 0)
      }
    }
  }

  @Test func charactersAnswerAndJumpsArrive() async throws {
    try await withSceneMaker([:]) { maker in
      let scene = try await maker.scene(maker.input("Market day in Lübeck, 1356"))
      let voices = maker.generation.voices
      let one = scene.characters[0]
      var streamed = ""
      for try await piece in voices.replyPieces(to: "What is new?", by: one, in: scene, history: [], model: nil) {
        streamed += piece
      }
      let reply = try await voices.reply(to: "What is new?", by: one, in: scene, history: [], model: nil)
      #expect(streamed == reply.response)
      #expect(streamed.contains(one.name))
      for count in [1, 10] {
        let lines = try await voices.lines(
          count, of: scene.characters, in: scene, topic: nil, after: scene.dialog, model: nil)
        #expect(lines.count == count)
      }
      let answer = try await voices.answer(to: "Are you well?", by: one, in: scene, earlier: [], model: nil)
      #expect(try await !voices.summary(of: [answer], in: scene, model: nil).isEmpty)
      let base = JumpBase(
        scene: scene, target: scene.timeline.date.moved(by: -2000, .year), direction: .prior, units: 2000, unit: .year)
      let earlier = try await maker.scene(maker.input("Earlier", base: base), in: StepsInMemory())
      #expect(earlier.timeline.year == -645)
      #expect(earlier.timeline.location == scene.timeline.location)
    }
  }

  @Test(arguments: ["production", "staging"]) func elsewhereAMissingKeyIs503AndNamesTheVariable(
    _ stage: String
  ) async throws {
    try await withSceneMaker(["ENVIRONMENT": stage]) { maker in
      let failure = await maker.failure()
      #expect(failure == .unconfigured(variable: "GOOGLE_API_KEY"))
      #expect(failure?.failure.kind == .unavailable)
      #expect(throws: PipelineFailure.unconfigured(variable: "GOOGLE_API_KEY")) {
        try maker.generation.status.requireConfigured()
      }
      #expect(maker.generation.catalog.models.isEmpty)
    }
  }
}
