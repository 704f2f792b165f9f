import Foundation
import Wire

/// The bodies of OpenRouter's API, as far as they are used.
enum OpenRouterBody {
  struct Message: Encodable {
    let role: String
    let content: String
  }

  struct Request: Encodable {
    struct ResponseFormat: Encodable {
      struct Schema: Encodable {
        let name: String
        let strict: Bool
        let schema: JSONValue
      }

      let type = "json_schema"
      let jsonSchema: Schema

      enum CodingKeys: String, CodingKey {
        case type
        case jsonSchema = "json_schema"
      }
    }

    /// Which of the companies behind OpenRouter may answer.
    struct Routing: Encodable {
      /// Otherwise one that knows no schemas is chosen, and leaves the schema out.
      let requireParameters: Bool
      /// Whether it may keep the question.
      let dataCollection: String

      enum CodingKeys: String, CodingKey {
        case requireParameters = "require_parameters"
        case dataCollection = "data_collection"
      }
    }

    let model: String
    let messages: [Message]
    let maxCompletionTokens: Int
    let responseFormat: ResponseFormat?
    let provider: Routing
    let stream: Bool

    enum CodingKeys: String, CodingKey {
      case model, messages, provider, stream
      case maxCompletionTokens = "max_completion_tokens"
      case responseFormat = "response_format"
    }
  }

  struct ImageBody: Encodable {
    let model: String
    let prompt: String
    let n: Int
    let aspectRatio: String

    enum CodingKeys: String, CodingKey {
      case model, prompt, n
      case aspectRatio = "aspect_ratio"
    }
  }

  struct Usage: Decodable {
    let totalTokens: Int?

    enum CodingKeys: String, CodingKey { case totalTokens = "total_tokens" }
  }

  struct Answer: Decodable {
    struct Text: Decodable {
      let content: String?
      let refusal: String?
    }

    struct Choice: Decodable {
      /// Of a whole answer.
      let message: Text?
      /// Of a piece.
      let delta: Text?
      let finishReason: String?
      let error: ErrorContent?

      enum CodingKeys: String, CodingKey {
        case message, delta, error
        case finishReason = "finish_reason"
      }
    }

    let model: String?
    let choices: [Choice]?
    let usage: Usage?
    let error: ErrorContent?
  }

  struct Images: Decodable {
    struct Image: Decodable {
      let base64: String?

      enum CodingKeys: String, CodingKey { case base64 = "b64_json" }
    }

    let data: [Image]?
    let usage: Usage?
    let error: ErrorContent?
  }

  struct ErrorContent: Decodable {
    struct Metadata: Decodable {
      let errorType: String?
      /// Of moderation.
      let reasons: [String]?

      enum CodingKeys: String, CodingKey {
        case reasons
        case errorType = "error_type"
      }

      init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        // `try?`: the metadata has what the provider behind has sent.
        errorType = try? members.decodeIfPresent(String.self, forKey: .errorType)
        reasons = try? members.decodeIfPresent([String].self, forKey: .reasons)
      }
    }

    struct Availability: Decodable {
      let retryable: Bool?
      let retryAfter: Double?

      enum CodingKeys: String, CodingKey {
        case retryable
        case retryAfter = "retry_after"
      }
    }

    /// nil for a code that is a text.
    let code: Int?
    let metadata: Metadata?
    let availability: Availability?

    enum CodingKeys: String, CodingKey { case code, metadata, availability }

    init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      // `try?`: older answers have a text here, and the others may be missing or of another form.
      code = try? members.decodeIfPresent(Int.self, forKey: .code)
      metadata = try? members.decodeIfPresent(Metadata.self, forKey: .metadata)
      availability = try? members.decodeIfPresent(Availability.self, forKey: .availability)
    }
  }
}

extension OpenRouterBody.Request {
  /// - Throws: `EncodingError`.
  init(_ request: TextRequest, model: Model, stream: Bool) throws {
    self.model = model.name
    self.stream = stream
    messages =
      [.init(role: "system", content: request.prompt.instructions)]
      + (try request.turns).enumerated().map { .init(role: $0.isMultiple(of: 2) ? "user" : "assistant", content: $1) }
    maxCompletionTokens = TextRequest.answerTokensMax
    responseFormat = request.prompt.schema.map {
      .init(jsonSchema: .init(name: request.prompt.name.rawValue, strict: true, schema: $0.structure))
    }
    // Those who offer free models keep the questions.
    provider = .init(
      requireParameters: request.prompt.schema != nil, dataCollection: model.isFree ? "allow" : "deny")
  }
}

extension ProviderError {
  init(_ status: Int, _ error: OpenRouterBody.ErrorContent?, retryAfter: String?) {
    let availability = error?.availability
    let delay = Duration.delay(retryAfter) ?? Duration.delay(availability?.retryAfter.map { "\($0)" })
    if let cause = error?.metadata?.errorType.flatMap(Self.cause(ofType:)) {
      // Money of calls that still run comes back.
      let isShort = cause == .credentials && status == 402 && delay != nil
      self.init(isShort ? .limited : cause, status: status, retryAfter: delay)
      return
    }
    switch status {
    case 403 where error?.metadata?.reasons != nil: self.init(.refused, status: status)
    case 402 where delay != nil: self.init(.limited, status: status, retryAfter: delay)
    case 401, 402, 403: self.init(.credentials, status: status)
    case 404: self.init(.modelMissing, status: status)
    case 408, 504, 524: self.init(.timedOut, status: status)
    case 429: self.init(.limited, status: status, retryAfter: delay)
    case 503 where availability?.retryable == false: self.init(.modelMissing, status: status)
    case 500...: self.init(.unavailable, status: status, retryAfter: delay)
    default: self.init(availability == nil ? .rejected : .modelMissing, status: status)
    }
  }

  private static func cause(ofType type: String) -> Cause? {
    switch type {
    case "content_policy_violation", "refusal": .refused
    case "authentication", "permission_denied", "payment_required": .credentials
    case "rate_limit_exceeded": .limited
    case "provider_overloaded", "provider_unavailable", "server": .unavailable
    case "timeout": .timedOut
    case "not_found": .modelMissing
    case "context_length_exceeded", "max_tokens_exceeded", "token_limit_exceeded", "string_too_long",
      "invalid_request", "invalid_prompt", "precondition_failed", "payload_too_large", "unprocessable":
      .rejected
    default: nil
    }
  }
}
