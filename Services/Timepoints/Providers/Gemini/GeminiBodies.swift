import Foundation
import Wire

/// The bodies of the Generative Language API, as far as they are used.
enum GeminiBody {
  struct Part: Codable {
    struct InlineData: Codable {
      let mimeType: String?
      let data: String?
    }

    var text: String?
    var inlineData: InlineData?
    /// Marks a summary of the model's thoughts, which is no part of the answer.
    var thought: Bool?
  }

  struct Content: Codable {
    var role: String?
    let parts: [Part]?
  }

  struct Request: Encodable {
    struct Configuration: Encodable {
      var maxOutputTokens: Int?
      var responseMimeType: String?
      var responseJsonSchema: JSONValue?
      var responseModalities: [String]?
      var imageConfig: [String: String]?
    }

    let contents: [Content]
    var systemInstruction: Content?
    let generationConfig: Configuration
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

extension GeminiBody.Request {
  /// - Throws: `EncodingError`.
  init(_ request: TextRequest) throws {
    contents = try request.turns.enumerated().map { index, text in
      .init(role: index.isMultiple(of: 2) ? "user" : "model", parts: [.init(text: text)])
    }
    systemInstruction = .init(parts: [.init(text: request.prompt.instructions)])
    var configuration = Configuration(maxOutputTokens: TextRequest.answerTokensMax)
    if let schema = request.prompt.schema {
      configuration.responseMimeType = "application/json"
      configuration.responseJsonSchema = schema.structure
    }
    generationConfig = configuration
  }

  init(_ request: ImageRequest) {
    contents = [.init(role: "user", parts: [.init(text: request.prompt)])]
    generationConfig = Configuration(responseModalities: ["TEXT", "IMAGE"], imageConfig: ["aspectRatio": "16:9"])
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
