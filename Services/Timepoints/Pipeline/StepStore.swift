import Foundation
import Wire

/// The answer of one step.
struct StepResult: Codable, Hashable, Sendable {
  let step: PipelineStep
  /// In the form of the type of the step: ``Judgement``, ``Timeline``, ``SceneSetting`` and so on.
  let json: JSONValue
  /// The model that has answered, as its provider names it; empty for a step that needs none.
  let model: String
  let milliseconds: Int
  /// What the provider counted, questions and answers together.
  let tokens: Int
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
  /// - Parameter image: only with ``PipelineStep/imageGeneration``, and only when there is one.
  func save(_ result: StepResult, image: GeneratedImage?) async throws
}

/// What a generation reports. The events come in the order of ``PipelineStep``, whichever step ends first.
enum PipelineEvent: Sendable {
  /// - Parameter wasStored: whether an earlier run has made the result.
  case completed(StepResult, wasStored: Bool)
  /// The picture has failed; the scene is complete without it.
  case imageFailed(message: String, wasStored: Bool)
}
