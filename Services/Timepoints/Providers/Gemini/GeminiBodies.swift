import Foundation
import Wire

/// The bodies of the Generative Language API, as far as they are used.
enum GeminiBody {
  struct Part: Decodable {
    struct InlineData: Decodable {
      let mimeType: String?
      let data: String?
    }

    let text: String?
    let inlineData: InlineData?
    /// Marks a summary of the model's thoughts, which is no part of the answer.
    let thought: Bool?
  }

  struct Content: Decodable {
    let parts: [Part]?
  }

  struct Answer: Decodable {
    struct Candidate: Decodable {
      let content: Content?
      let finishReason: String?
    }

    struct PromptFeedback: Decodable {
      let blockReason: String?
    }

    struct Usage: Decodable {
      let totalTokenCount: Int?
    }

    let candidates: [Candidate]?
    let promptFeedback: PromptFeedback?
    let usageMetadata: Usage?
    let modelVersion: String?
    let error: ErrorContent?

    /// The text of the first candidate, without thoughts.
    var text: String {
      (candidates?.first?.content?.parts ?? []).filter { $0.thought != true }.compactMap(\.text).joined()
    }

    var finishReason: String? { candidates?.first?.finishReason }
  }

  struct ErrorContent: Decodable {
    struct Detail: Decodable {
      struct Violation: Decodable {
        let quotaId: String?
      }

      let reason: String?
      let retryDelay: String?
      let violations: [Violation]?
    }

    let code: Int?
    let status: String?
    let details: [Detail]?
  }
}

/// As values and not as types of their own, for the schemas and materials in them: trees of values are encoded quickly.
extension GeminiBody {
  /// - Throws: `EncodingError`.
  static func request(_ request: TextRequest) throws -> JSONValue {
    var configuration: [String: JSONValue] = ["maxOutputTokens": .integer(TextRequest.answerTokensMax)]
    if let schema = request.prompt.schema {
      configuration["responseMimeType"] = .string("application/json")
      configuration["responseJsonSchema"] = schema.structure
    }
    let turns = try request.turns.enumerated().map { index, text in
      content(text, role: index.isMultiple(of: 2) ? "user" : "model")
    }
    return .object([
      "contents": .array(turns), "systemInstruction": content(request.prompt.instructions),
      "generationConfig": .object(configuration),
    ])
  }

  static func request(_ request: ImageRequest) -> JSONValue {
    .object([
      "contents": .array([content(request.prompt, role: "user")]),
      "generationConfig": .object([
        "responseModalities": .array([.string("TEXT"), .string("IMAGE")]),
        "imageConfig": .object(["aspectRatio": .string("16:9")]),
      ]),
    ])
  }

  private static func content(_ text: String, role: String? = nil) -> JSONValue {
    var members: [String: JSONValue] = ["parts": .array([.object(["text": .string(text)])])]
    if let role { members["role"] = .string(role) }
    return .object(members)
  }
}

extension ProviderError {
  /// The error for the end of an answer of Gemini; nil when that ended as it should or at the limit of its length.
  init?(finishReason: String?, blockReason: String?) {
    if blockReason != nil {
      self.init(.refused, status: 200)
      return
    }
    switch finishReason {
    case "STOP", "MAX_TOKENS": return nil
    case "SAFETY", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "NO_IMAGE":
      self.init(.refused, status: 200)
    default: self.init(.unreadable, status: 200)
    }
  }

  /// The error for a status and body of Gemini. A proxy in front of it may answer with another body, or none.
  init(_ status: Int, _ error: GeminiBody.ErrorContent?, retryAfter: String?) {
    let details = error?.details ?? []
    let delay =
      details.compactMap { $0.retryDelay.map { Duration.delay($0.hasSuffix("s") ? String($0.dropLast()) : $0) } }
      .first ?? Duration.delay(retryAfter)
    switch status {
    case 400 where details.contains { $0.reason == "API_KEY_INVALID" }, 401, 402, 403:
      self.init(.credentials, status: status)
    case 400 where error?.status == "FAILED_PRECONDITION": self.init(.credentials, status: status)
    case 404: self.init(.modelMissing, status: status)
    case 429:
      // After the quota of a day, the provider's delay of some seconds does not help.
      let isOfDay = details.contains { $0.violations?.contains { $0.quotaId?.contains("PerDay") ?? false } ?? false }
      self.init(.limited, status: status, retryAfter: isOfDay ? .seconds(3600) : delay)
    case 408, 504: self.init(.timedOut, status: status)
    case 500...: self.init(.unavailable, status: status, retryAfter: delay)
    default: self.init(.rejected, status: status)
    }
  }
}
