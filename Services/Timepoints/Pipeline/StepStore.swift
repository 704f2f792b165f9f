import Foundation
import Wire

/// The answer of one step.
struct StepResult: Decodable, Hashable, Sendable {
  let step: PipelineStep
  /// In the form of the type of the step: ``Judgement``, ``Timeline``, ``SceneSetting`` and so on.
  let json: JSONValue
  /// The model that has answered, as its provider names it; empty for a step that needs none.
  let model: String
  let milliseconds: Int
  /// What the provider counted, questions and answers together.
  let tokens: Int

  func with(json: JSONValue) -> StepResult {
    StepResult(step: step, json: json, model: model, milliseconds: milliseconds, tokens: tokens)
  }

  /// What is stored and decoded again: a tree of values is encoded quickly.
  var stored: JSONValue {
    .object([
      "step": .string(step.rawValue), "json": json, "model": .string(model), "milliseconds": .integer(milliseconds),
      "tokens": .integer(tokens),
    ])
  }
}

/// A picture of a provider: JPEG, PNG or WebP, as its first bytes say.
struct GeneratedImage: Hashable, Sendable {
  let bytes: Data
  let contentType: String
  let model: String
}

/// Where the results of one generation are kept. A result that is stored is never asked for again.
protocol StepStore: Sendable {
  func results() async throws -> [PipelineStep: StepResult]
  /// - Parameter events: what is to be reported from now on.
  func save(_ result: StepResult, events: [PipelineEvent]) async throws
  /// Keeps the picture, before its result is saved.
  ///
  /// - Returns: false when it cannot be read as a picture.
  func keep(_ image: GeneratedImage) async throws -> Bool
}

/// What a generation reports. The events come in the order of ``PipelineStep``, whichever step ends first.
enum PipelineEvent: Sendable {
  /// - Parameter wasStored: whether an earlier run has made the result.
  case completed(StepResult, wasStored: Bool)
  /// The picture has failed; the scene is complete without it.
  case imageFailed(message: String, wasStored: Bool)

  var wasStored: Bool {
    switch self {
    case .completed(_, let wasStored), .imageFailed(_, let wasStored): wasStored
    }
  }
}
