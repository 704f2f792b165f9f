import Foundation
import Web
import Wire

/// The body of a request for a scene.
struct GenerationRequestBody: Decodable {
  let query: String
  let generate_image: Bool?
  let preset: String?
  let text_model: String?
  let image_model: String?
  let write_blob: Bool?
  let visibility: String?
  let callback_url: String?
  let request_context: JSONValue?
}

/// A scene that a user asks for.
struct GenerationRequest: Sendable {
  let query: String
  let wantsImage: Bool
  let preset: Preset
  let textModel: String?
  let imageModel: String?
  let writesBlob: Bool
  let visibility: Timepoint.Visibility
  let callback: CallbackURL?
  let context: String?

  private static let queryCharacters = 3...500
  private static let queryBytesMax = 4096
  private static let contextBytesMax = 16 * 1024
  private static let modelBytesMax = 200

  /// - Throws: a validation failure that names every field at fault.
  init(_ body: GenerationRequestBody, callbacks: CallbackRules) throws {
    (query, visibility, callback, context, textModel, imageModel) = try FieldErrors.collected(
      { try Self.query(body.query) }, { try Self.visibility(body.visibility) },
      { try body.callback_url.map { try callbacks.url($0) } }, { try Self.context(body.request_context) },
      { try Self.model(body.text_model, "text_model") }, { try Self.model(body.image_model, "image_model") })
    wantsImage = body.generate_image ?? false
    preset = Preset(requested: body.preset)
    writesBlob = body.write_blob ?? false
  }

  private static func query(_ text: String) throws(Failure) -> String {
    let query = text.trimmingCharacters(in: .whitespacesAndNewlines)
    guard queryCharacters.contains(query.count), query.utf8.count <= queryBytesMax else {
      throw .invalid(.init("query", "must have 3 to 500 characters"))
    }
    return query
  }

  static func visibility(_ text: String?) throws(Failure) -> Timepoint.Visibility {
    guard let visibility = Timepoint.Visibility(rawValue: text ?? "public") else {
      throw .invalid(.init("visibility", "must be public or private"))
    }
    return visibility
  }

  private static func context(_ value: JSONValue?) throws -> String? {
    guard let value, value != .null else { return nil }
    guard case .object = value else { throw Failure.invalid(.init("request_context", "must be an object")) }
    let json = try JSON.encode(value)
    guard json.count <= contextBytesMax else {
      throw Failure.invalid(.init("request_context", "must have at most \(contextBytesMax) bytes"))
    }
    return String(decoding: json, as: UTF8.self)
  }

  static func model(_ name: String?, _ field: String) throws(Failure) -> String? {
    guard let name, !name.isEmpty else { return nil }
    guard name.utf8.count <= modelBytesMax else {
      throw .invalid(.init(field, "must have at most \(modelBytesMax) bytes"))
    }
    return name
  }
}
