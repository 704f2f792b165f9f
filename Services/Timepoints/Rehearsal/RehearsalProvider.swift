import Foundation
import Wire

/// Draws a picture: a JPEG from a seed and a few words.
typealias PictureDrawing = @Sendable (_ seed: UInt64, _ texts: [String]) async throws -> Data

/// Makes plausible scenes without a provider, so that an app can be built and tested without paying. The same query makes
/// the same scene.
struct RehearsalProvider: Provider {
  private let drawPicture: PictureDrawing

  init(drawPicture: @escaping PictureDrawing) { self.drawPicture = drawPicture }

  func text(_ request: TextRequest, model: Model, timeout: Duration) async throws -> TextAnswer {
    let text =
      request.prompt.schema == nil
      ? RehearsalVoices.words(for: request.data)
      : String(decoding: try JSON.encode(try Self.answer(request)), as: UTF8.self)
    return TextAnswer(text: text, model: model.id, tokens: 0)
  }

  func text(
    _ request: TextRequest, model: Model, timeout: Duration, onPiece: @escaping @Sendable (String) async throws -> Void
  ) async throws -> TextAnswer {
    let answer = try await text(request, model: model, timeout: timeout)
    let words = answer.text.split(separator: " ", omittingEmptySubsequences: false)
    for (index, word) in words.enumerated() { try await onPiece(index == 0 ? String(word) : " \(word)") }
    return answer
  }

  func image(_ request: ImageRequest, model: Model, timeout: Duration) async throws -> ImageAnswer {
    var random = RehearsalRandom(request.title)
    let bytes: Data
    do { bytes = try await drawPicture(random.next(), [request.title]) } catch is CancellationError {
      throw CancellationError()
    } catch { throw ProviderError(.unavailable) }
    guard let type = GeneratedImage.contentType(of: bytes) else { throw ProviderError(.unreadable) }
    return ImageAnswer(image: GeneratedImage(bytes: bytes, contentType: type, model: model.id), tokens: 0)
  }

  private static func answer(_ request: TextRequest) throws -> JSONValue {
    let data = request.data
    let script = RehearsalScript(data)
    return switch request.prompt.name {
    case .judge: try JSONValue(encoding: script.judgement)
    case .timeline: try JSONValue(encoding: script.timeline).with(nulls: script.openDateParts)
    case .scene: try JSONValue(encoding: script.scene)
    case .characters: try JSONValue(encoding: script.characters)
    case .graph: try JSONValue(encoding: script.graph)
    case .moment: try JSONValue(encoding: script.moment)
    case .camera: try JSONValue(encoding: script.camera)
    case .dialog: try JSONValue(encoding: script.dialog)
    case .grounding: try JSONValue(encoding: script.grounding)
    case .imagePrompt: try JSONValue(encoding: script.imagePrompt)
    case .chat, .chatText: RehearsalVoices.reply(for: data)
    case .lines: RehearsalVoices.lines(for: data)
    case .survey: RehearsalVoices.answer(for: data)
    case .surveySummary: RehearsalVoices.summary(for: data)
    }
  }
}

extension JSONValue {
  /// With null for members that are missing.
  fileprivate func with(nulls names: [String]) -> JSONValue {
    guard case .object(let members) = self else { return self }
    return .object(members.merging(names.map { ($0, .null) }) { own, _ in own })
  }

  var string: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }

  var elements: [JSONValue] {
    guard case .array(let elements) = self else { return [] }
    return elements
  }
}
