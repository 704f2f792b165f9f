import Foundation
import Wire

/// An answer in the form of its prompt's schema.
struct PromptAnswer: Sendable {
  let json: JSONValue
  let model: String
  let tokens: Int
}

/// Asks a prompt, and checks the answer.
struct PromptClient: Sendable {
  private let library: PromptLibrary
  private let caller: ModelCaller
  private static let correctedAnswerMax = 20_000

  init(_ library: PromptLibrary, _ caller: ModelCaller) {
    self.library = library
    self.caller = caller
  }

  /// Asks once, and once more with what was wrong when the answer does not fit.
  ///
  /// - Parameter mistakes: what is wrong beyond the schema, without repeating texts of the answer.
  /// - Throws: ``PipelineFailure``: for two wrong answers ``PipelineFailure/provider(_:)``.
  func answer(
    _ name: PromptName, about data: JSONValue, models: [Model], budget: RequestBudget,
    mistakes: @Sendable (JSONValue) -> [String] = { _ in [] }
  ) async throws -> PromptAnswer {
    var request = TextRequest(prompt: library[name], data: data)
    var tokens = 0
    for _ in 1...2 {
      let answer = try await caller.text(request, models: models, budget: budget)
      tokens += answer.tokens
      switch Self.checked(answer, request.prompt, mistakes) {
      case .success(let json): return PromptAnswer(json: json, model: answer.model, tokens: tokens)
      case .failure(let wrong):
        request.correction = .init(
          answer: wrong.isLeak || answer.text.isEmpty ? "…" : String(answer.text.prefix(Self.correctedAnswerMax)),
          request: "Your answer does not fit: \(wrong.errors.joined(separator: "; ")). Answer again in full.")
      }
    }
    throw PipelineFailure.provider(PipelineStep(rawValue: name.rawValue))
  }

  /// The text of an answer in pieces.
  ///
  /// - Throws: ``PipelineFailure``, also when the answer repeats the instructions; what came before is then no answer.
  func pieces(
    _ name: PromptName, about data: JSONValue, models: [Model], budget: RequestBudget,
    onPiece: @escaping @Sendable (String) async throws -> Void
  ) async throws {
    let request = TextRequest(prompt: library[name], data: data)
    let stream = GuardedStream(request.prompt.instructionGuard)
    let answer = try await caller.text(request, models: models, budget: budget) { piece in
      let clean = piece.withoutControls
      guard !stream.isRepeated(with: clean) else { throw PipelineFailure.provider(nil) }
      if !clean.isEmpty { try await onPiece(clean) }
    }
    guard !answer.text.isEmpty else { throw PipelineFailure.provider(nil) }
  }

  private struct WrongAnswer: Error {
    let errors: [String]
    var isLeak = false
  }

  private static func checked(
    _ answer: TextAnswer, _ prompt: Prompt, _ mistakes: (JSONValue) -> [String]
  ) -> Result<JSONValue, WrongAnswer> {
    guard answer.isComplete else { return .failure(.init(errors: ["it was cut off; write less"])) }
    // `try?`: said to the model as a sentence.
    guard let json = try? JSON.decode(JSONValue.self, from: Data(answer.text.withoutFence.utf8)) else {
      return .failure(.init(errors: ["it is not JSON"]))
    }
    let clean = json.withoutControls
    var errors = prompt.schema?.errors(in: clean) ?? []
    if errors.isEmpty { errors = mistakes(clean) }
    guard errors.isEmpty else { return .failure(.init(errors: errors)) }
    guard !prompt.instructionGuard.isRepeated(in: clean.texts.joined(separator: "\n")) else {
      return .failure(.init(errors: ["it repeats your instructions"], isLeak: true))
    }
    return .success(clean)
  }
}
