import Foundation
import Wire

/// Lets models speak for the characters.
struct PromptedVoices: CharacterVoices {
  private let prompts: PromptClient
  private let budgets: ProviderBudgets
  private let catalog: ModelsCatalog
  /// The end of a conversation that is sent, in turns and in characters.
  private static let turnsMax = 40
  private static let historyMax = 24_000

  init(_ prompts: PromptClient, _ budgets: ProviderBudgets, _ catalog: ModelsCatalog) {
    self.prompts = prompts
    self.budgets = budgets
    self.catalog = catalog
  }

  func reply(
    to message: String, by character: SceneCharacter, in scene: GeneratedScene, history: [ChatTurn], model: String?
  ) async throws -> CharacterReply {
    let answer = try await answer(.chat, about: try Self.chat(message, character, scene, history), model)
    let reply: Reply = try answer.value()
    return CharacterReply(response: reply.response, emotionalTone: reply.emotionalTone, model: answer.model)
  }

  func replyPieces(
    to message: String, by character: SceneCharacter, in scene: GeneratedScene, history: [ChatTurn], model: String?
  ) -> AsyncThrowingStream<String, any Error> {
    // Unbounded, but the provider's answer is not.
    let (stream, continuation) = AsyncThrowingStream.makeStream(of: String.self)
    let task = Task {
      do {
        let data = try Self.chat(message, character, scene, history)
        try await budgets.withBudget { budget in
          try await prompts.pieces(.chatText, about: data, models: models(model), budget: budget) {
            continuation.yield($0)
          }
        }
        continuation.finish()
      } catch { continuation.finish(throwing: error) }
    }
    continuation.onTermination = { _ in task.cancel() }
    return stream
  }

  func lines(
    _ count: Int, of characters: [SceneCharacter], in scene: GeneratedScene, topic: String?,
    after earlier: [DialogLine],
    model: String?
  ) async throws -> [DialogLine] {
    let data: JSONValue = .object([
      "scene": try Self.summary(of: scene), "characters": try JSONValue(encoding: characters),
      "earlier": try JSONValue(encoding: Array(earlier.suffix(Self.turnsMax))), "count": .integer(count),
      "topic": topic.map(JSONValue.string) ?? .null,
    ])
    let names = Set(characters.map(\.name))
    let answer = try await answer(.lines, about: data, model) { AnswerRules.dialog($0, speakers: names) }
    let dialog: Dialog = try answer.value()
    return Array(dialog.lines.prefix(count))
  }

  func answer(
    to question: String, by character: SceneCharacter, in scene: GeneratedScene, earlier: [SurveyAnswer], model: String?
  ) async throws -> SurveyAnswer {
    let data: JSONValue = .object([
      "scene": try Self.summary(of: scene), "character": try JSONValue(encoding: character),
      "question": .string(question), "earlier": .array(earlier.suffix(Self.turnsMax).map(\.material)),
    ])
    let answer: Answer = try await answer(.survey, about: data, model).value()
    return SurveyAnswer(
      characterName: character.name, question: question, response: answer.response, sentiment: answer.sentiment,
      keyPoints: answer.keyPoints, emotionalTone: answer.emotionalTone)
  }

  func summary(of answers: [SurveyAnswer], in scene: GeneratedScene, model: String?) async throws -> String {
    let data: JSONValue = .object([
      "title": .string(scene.title), "answers": .array(answers.prefix(Self.answersMax).map(\.material)),
    ])
    let summary: Summary = try await answer(.surveySummary, about: data, model).value()
    return summary.summary
  }

  /// Six characters and ten questions.
  private static let answersMax = 60

  private struct Reply: Decodable {
    let response: String
    let emotionalTone: String

    enum CodingKeys: String, CodingKey {
      case response
      case emotionalTone = "emotional_tone"
    }
  }

  private struct Answer: Decodable {
    let response: String
    let sentiment: SurveyAnswer.Sentiment
    let keyPoints: [String]
    let emotionalTone: String

    enum CodingKeys: String, CodingKey {
      case response, sentiment
      case keyPoints = "key_points"
      case emotionalTone = "emotional_tone"
    }
  }

  private struct Summary: Decodable {
    let summary: String
  }

  private func models(_ requested: String?) -> [Model] {
    catalog.models(for: .text, preset: .balanced, requested: requested)
  }

  private func answer(
    _ name: PromptName, about data: JSONValue, _ model: String?,
    mistakes: @escaping @Sendable (JSONValue) -> [String] = { _ in [] }
  ) async throws -> PromptAnswer {
    try await budgets.withBudget { budget in
      try await prompts.answer(name, about: data, models: models(model), budget: budget, mistakes: mistakes)
    }
  }

  private static func chat(
    _ message: String, _ character: SceneCharacter, _ scene: GeneratedScene, _ history: [ChatTurn]
  ) throws -> JSONValue {
    var turns: [ChatTurn] = []
    var length = 0
    for turn in history.suffix(turnsMax).reversed() {
      length += turn.text.count
      guard length <= historyMax else { break }
      turns.append(turn)
    }
    return .object([
      "scene": try summary(of: scene), "character": try JSONValue(encoding: character),
      "history": try JSONValue(encoding: Array(turns.reversed())), "message": .string(message),
    ])
  }

  /// What everybody in the scene knows.
  private static func summary(of scene: GeneratedScene) throws -> JSONValue {
    .object([
      "title": .string(scene.title), "timeline": try JSONValue(encoding: scene.timeline),
      "setting": .string(scene.scene.setting), "moment": try JSONValue(encoding: scene.moment),
      "people": .array(scene.characters.map { .string("\($0.name), \($0.role)") }),
      "relationships": try JSONValue(encoding: scene.graph.relationships),
    ])
  }
}

extension SurveyAnswer {
  /// As material of a prompt.
  fileprivate var material: JSONValue {
    .object([
      "character": .string(characterName), "question": .string(question),
      "response": .string(String(response.prefix(2000))),
    ])
  }
}

extension PromptAnswer {
  /// - Throws: ``PipelineFailure/provider(_:)`` for an answer of another form, which a replaced schema may let through.
  func value<T: Decodable>() throws -> T {
    do { return try JSON.decode(T.self, from: JSON.encode(json)) } catch { throw PipelineFailure.provider(nil) }
  }
}
