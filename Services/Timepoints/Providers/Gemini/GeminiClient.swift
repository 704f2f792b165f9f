import Foundation
import Synchronization
import Web
import Wire

/// Google's Generative Language API, version v1beta.
struct GeminiClient: Provider {
  private let http: ProviderHTTP
  private static let textBytesMax = 4 * 1024 * 1024
  /// Base64, and a signature that may be larger than the picture.
  private static let imageBytesMax = 48 * 1024 * 1024

  /// nil without `GOOGLE_API_KEY`.
  init?(_ settings: Settings) {
    guard let key = settings.nonempty("GOOGLE_API_KEY") else { return nil }
    let base = settings.string("GOOGLE_BASE_URL", default: "https://generativelanguage.googleapis.com")
    // In a header, as URLs are logged.
    http = ProviderHTTP(base: base, headers: [("x-goog-api-key", key)])
  }

  func text(_ request: TextRequest, model: Model, timeout: Duration) async throws -> TextAnswer {
    let body = try JSON.encode(try GeminiBody.request(request))
    let answer = try await answer(":generateContent", body, model, bytesMax: Self.textBytesMax, timeout)
    return try Self.textAnswer(
      answer.text, finishReason: answer.finishReason, blockReason: answer.promptFeedback?.blockReason,
      model: answer.modelVersion ?? model.name, tokens: answer.usageMetadata?.totalTokenCount ?? 0)
  }

  func text(
    _ request: TextRequest, model: Model, timeout: Duration, onPiece: @escaping @Sendable (String) async throws -> Void
  ) async throws -> TextAnswer {
    let body = try JSON.encode(try GeminiBody.request(request))
    let collected = Mutex(Collected(model: model.name))
    let response = try await http.stream(
      "/v1beta/models/\(model.name):streamGenerateContent?alt=sse", body, bytesMax: Self.textBytesMax, timeout: timeout
    ) { event in
      let part = try Self.part(of: event)
      collected.withLock { $0.add(part) }
      if !part.text.isEmpty { try await onPiece(part.text) }
      return true
    }
    if let response { throw Self.error(response) }
    let whole = collected.withLock { $0 }
    return try Self.textAnswer(
      whole.text, finishReason: whole.finishReason, blockReason: whole.blockReason, model: whole.model,
      tokens: whole.tokens)
  }

  func image(_ request: ImageRequest, model: Model, timeout: Duration) async throws -> ImageAnswer {
    let body = try JSON.encode(GeminiBody.request(request))
    let answer = try await answer(":generateContent", body, model, bytesMax: Self.imageBytesMax, timeout)
    let parts = answer.candidates?.first?.content?.parts ?? []
    guard let text = parts.lazy.compactMap({ $0.inlineData?.data }).first else {
      throw ProviderError(finishReason: answer.finishReason, blockReason: answer.promptFeedback?.blockReason)
        ?? ProviderError(.refused, status: 200)
    }
    guard let image = GeneratedImage(base64: text, model: answer.modelVersion ?? model.name) else {
      throw ProviderError(.unreadable, status: 200)
    }
    return ImageAnswer(image: image, tokens: answer.usageMetadata?.totalTokenCount ?? 0)
  }

  private func answer(
    _ method: String, _ body: Data, _ model: Model, bytesMax: Int, _ timeout: Duration
  ) async throws -> GeminiBody.Answer {
    let response = try await http.post(
      "/v1beta/models/\(model.name)\(method)", body, bytesMax: bytesMax, timeout: timeout)
    guard response.status == 200 else { throw Self.error(response) }
    // `try?`: what cannot be read is one error, without the decoder's words, which may contain some of the answer.
    guard let answer = try? JSONDecoder().decode(GeminiBody.Answer.self, from: response.body) else {
      throw ProviderError(.unreadable, status: 200)
    }
    if let error = answer.error { throw ProviderError(error.code ?? 500, error, retryAfter: nil) }
    return answer
  }

  private static func part(of event: EventStreamReader.Event) throws -> GeminiBody.Answer {
    let text =
      switch event {
      case .data(let text), .bare(let text): text
      }
    // `try?`: as above.
    guard let part = try? JSONDecoder().decode(GeminiBody.Answer.self, from: Data(text.utf8)) else {
      throw ProviderError(.unreadable, status: 200)
    }
    if let error = part.error { throw ProviderError(error.code ?? 500, error, retryAfter: nil) }
    return part
  }

  /// The parts of a stream so far. Tokens are counted up in each.
  private struct Collected {
    var text = ""
    var finishReason: String?
    var blockReason: String?
    var tokens = 0
    var model: String

    init(model: String) { self.model = model }

    mutating func add(_ part: GeminiBody.Answer) {
      text += part.text
      finishReason = part.finishReason ?? finishReason
      blockReason = part.promptFeedback?.blockReason ?? blockReason
      tokens = part.usageMetadata?.totalTokenCount ?? tokens
      model = part.modelVersion ?? model
    }
  }

  private static func textAnswer(
    _ text: String, finishReason: String?, blockReason: String?, model: String, tokens: Int
  ) throws -> TextAnswer {
    if let error = ProviderError(finishReason: finishReason, blockReason: blockReason) { throw error }
    return TextAnswer(text: text, model: model, tokens: tokens, isComplete: finishReason == "STOP")
  }

  private struct ErrorBody: Decodable {
    let error: GeminiBody.ErrorContent?
  }

  private static func error(_ response: ProviderHTTP.Response) -> ProviderError {
    // `try?`: a proxy may have answered. An error of a stream may be the only entry of a list.
    let decoder = JSONDecoder()
    let body =
      (try? decoder.decode(ErrorBody.self, from: response.body))
      ?? (try? decoder.decode([ErrorBody].self, from: response.body))?.first
    // A 200 that is no stream and no error cannot be read either.
    guard response.status != 200 || body?.error != nil else { return ProviderError(.unreadable, status: 200) }
    let status = response.status == 200 ? body?.error?.code ?? 500 : response.status
    return ProviderError(status, body?.error, retryAfter: response.retryAfter)
  }
}
