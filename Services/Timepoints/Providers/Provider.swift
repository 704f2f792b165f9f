import Foundation
import Wire

/// Where models run. The raw values are those of `/models/providers`.
enum ProviderName: String, CaseIterable, Codable, Sendable, CodingKeyRepresentable {
  case google, openrouter, rehearsal

  /// The setting with its key.
  var variable: String {
    switch self {
    case .google: "GOOGLE_API_KEY"
    case .openrouter: "OPENROUTER_API_KEY"
    case .rehearsal: "ENVIRONMENT"
    }
  }
}

/// One question to a model.
struct TextRequest: Sendable {
  /// A wrong answer, and what is wrong with it.
  struct Correction: Sendable {
    let answer: String
    let request: String
  }

  let prompt: Prompt
  /// The material: the only place for what users have written.
  let data: JSONValue
  var correction: Correction?

  /// Thoughts of the model count too.
  static let answerTokensMax = 16_384

  /// The turns after the instructions. User's turns are at even positions.
  var turns: [String] {
    get throws {
      let block = try DataBlock(data).text
      guard let correction else { return [block] }
      return [block, correction.answer, correction.request]
    }
  }
}

struct TextAnswer: Sendable {
  let text: String
  /// The model that has answered, which may be another than the one asked.
  let model: String
  let tokens: Int
  /// False when the model stopped at its limit.
  var isComplete = true
}

struct ImageRequest: Sendable {
  let prompt: String
  /// For the rehearsal, which draws from it.
  let title: String
}

struct ImageAnswer: Sendable {
  let image: GeneratedImage
  let tokens: Int
}

/// A provider of models. All calls throw ``ProviderError`` and `CancellationError`, and ask once.
protocol Provider: Sendable {
  func text(_ request: TextRequest, model: Model, timeout: Duration) async throws -> TextAnswer
  /// The same, with the text also in pieces as it comes.
  func text(
    _ request: TextRequest, model: Model, timeout: Duration, onPiece: @escaping @Sendable (String) async throws -> Void
  ) async throws -> TextAnswer
  func image(_ request: ImageRequest, model: Model, timeout: Duration) async throws -> ImageAnswer
}
