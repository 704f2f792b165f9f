import Foundation

/// What a scene is to be.
public struct TimepointRequest: Sendable, Encodable {
  /// Which models make a scene.
  public enum Preset: String, Sendable, Encodable { case hd, hyper, balanced, gemini3 }

  /// 3 to 500 characters.
  public let query: String
  /// Costs the same.
  public var generateImage = false
  /// What it costs is in ``Credits/costs()``, as `generate_hd` and so on.
  public var preset = Preset.balanced
  public var visibility = Timepoint.Visibility.public
  /// nil: as the preset says, as for the image.
  public var textModel: TimepointModel.ID?
  public var imageModel: TimepointModel.ID?
  /// Whether the server writes a folder of the scene, where it has such folders.
  public var writeBlob = false
  /// Is called by the server when the scene has ended: https, and not on a private network.
  public var callbackURL: URL?
  /// An object of at most 16 KB, which comes back as it is with the scene.
  public var requestContext: JSONValue?

  private enum CodingKeys: String, CodingKey {
    case query, preset, visibility
    case generateImage = "generate_image"
    case textModel = "text_model"
    case imageModel = "image_model"
    case writeBlob = "write_blob"
    case callbackURL = "callback_url"
    case requestContext = "request_context"
  }

  /// - Parameter query: 3 to 500 characters, such as `Trinity test 1945`.
  public init(_ query: String) { self.query = query }
}
