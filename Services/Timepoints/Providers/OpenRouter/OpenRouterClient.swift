import Foundation
import Synchronization
import Web
import Wire

/// OpenRouter's API: chat completions for text, and its route for images.
struct OpenRouterClient: Provider {
  private let http: ProviderHTTP
  private static let textBytesMax = 4 * 1024 * 1024
  private static let imageBytesMax = 48 * 1024 * 1024

  /// nil without `OPENROUTER_API_KEY`.
  init?(_ settings: Settings) {
    guard let key = settings.nonempty("OPENROUTER_API_KEY") else { return nil }
    let base = settings.string("OPENROUTER_BASE_URL", default: "https://openrouter.ai/api/v1")
    http = ProviderHTTP(base: base, headers: [("authorization", "Bearer \(key)")])
  }

  func text(_ request: TextRequest, model: Model, timeout: Duration) async throws -> TextAnswer {
    let body = try JSON.encode(try OpenRouterBody.Request(request, model: model, stream: false))
    let response = try await http.post("/chat/completions", body, bytesMax: Self.textBytesMax, timeout: timeout)
    guard response.status == 200 else { throw Self.error(response) }
    let answer: OpenRouterBody.Answer = try Self.decoded(response.body)
    // An error may come with 200, and before a choice.
    if let error = answer.error ?? answer.choices?.first?.error { throw Self.error(error) }
    var collected = Collected(model: model.name)
    collected.add(answer)
    return try collected.answer
  }

  func text(
    _ request: TextRequest, model: Model, timeout: Duration, onPiece: @escaping @Sendable (String) async throws -> Void
  ) async throws -> TextAnswer {
    let body = try JSON.encode(try OpenRouterBody.Request(request, model: model, stream: true))
    let collected = Mutex(Collected(model: model.name))
    let response = try await http.stream("/chat/completions", body, bytesMax: Self.textBytesMax, timeout: timeout) {
      event in
      let text =
        switch event {
        case .data(let text), .bare(let text): text
        }
      guard text != "[DONE]" else { return false }
      let part: OpenRouterBody.Answer = try Self.decoded(Data(text.utf8))
      if let error = part.error ?? part.choices?.first?.error { throw Self.error(error) }
      let piece = collected.withLock { $0.add(part) }
      if !piece.isEmpty { try await onPiece(piece) }
      return true
    }
    if let response { throw Self.error(response) }
    return try collected.withLock { $0 }.answer
  }

  func image(_ request: ImageRequest, model: Model, timeout: Duration) async throws -> ImageAnswer {
    let body = try JSON.encode(
      OpenRouterBody.ImageBody(model: model.name, prompt: request.prompt, n: 1, aspectRatio: "16:9"))
    let response = try await http.post("/images", body, bytesMax: Self.imageBytesMax, timeout: timeout)
    guard response.status == 200 else { throw Self.error(response) }
    let answer: OpenRouterBody.Images = try Self.decoded(response.body)
    if let error = answer.error { throw Self.error(error) }
    // No picture is a refusal.
    guard let text = answer.data?.lazy.compactMap(\.base64).first else { throw ProviderError(.refused, status: 200) }
    guard let image = GeneratedImage(base64: text, model: model.name) else {
      throw ProviderError(.unreadable, status: 200)
    }
    return ImageAnswer(image: image, tokens: answer.usage?.totalTokens ?? 0)
  }

  /// The pieces so far, or a whole answer as one.
  private struct Collected {
    private var text = ""
    private var finishReason: String?
    private var isRefused = false
    private var tokens = 0
    private var model: String

    init(model: String) { self.model = model }

    /// The text that has come with the part.
    @discardableResult
    mutating func add(_ part: OpenRouterBody.Answer) -> String {
      let choice = part.choices?.first
      let content = choice?.message ?? choice?.delta
      text += content?.content ?? ""
      finishReason = choice?.finishReason ?? finishReason
      isRefused = isRefused || !(content?.refusal ?? "").isEmpty
      tokens = part.usage?.totalTokens ?? tokens
      model = part.model ?? model
      return content?.content ?? ""
    }

    /// - Throws: ``ProviderError`` for an answer that has not ended as it should.
    var answer: TextAnswer {
      get throws {
        switch finishReason {
        case "content_filter": throw ProviderError(.refused, status: 200)
        case "stop", "length":
          if isRefused { throw ProviderError(.refused, status: 200) }
          return TextAnswer(text: text, model: model, tokens: tokens, isComplete: finishReason == "stop")
        // "error", or a body that ends in the middle.
        default: throw ProviderError(.unreadable, status: 200)
        }
      }
    }
  }

  private static func decoded<T: Decodable>(_ data: Data) throws -> T {
    do { return try JSONDecoder().decode(T.self, from: data) } catch {
      // Without the decoder's words, which may contain some of the answer.
      throw ProviderError(.unreadable, status: 200)
    }
  }

  private struct ErrorBody: Decodable {
    let error: OpenRouterBody.ErrorContent?
  }

  private static func error(_ content: OpenRouterBody.ErrorContent) -> ProviderError {
    ProviderError(content.code ?? 500, content, retryAfter: nil)
  }

  private static func error(_ response: ProviderHTTP.Response) -> ProviderError {
    // `try?`: a proxy may have answered.
    let content = (try? JSONDecoder().decode(ErrorBody.self, from: response.body))?.error
    guard response.status == 200 else {
      return ProviderError(response.status, content, retryAfter: response.retryAfter)
    }
    return content.map(error) ?? ProviderError(.unreadable, status: 200)
  }
}
