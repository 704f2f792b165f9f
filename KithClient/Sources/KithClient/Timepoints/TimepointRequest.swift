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

  /// - Parameter query: 3 to 500 characters, such as `Trinity test 1945`.
  public init(_ query: String) { self.query = query }
}

/// How far the making of a scene is.
public struct TimepointProgress: Sendable, Equatable, Decodable {
  /// `start`, `step_complete`, `step_error`, `done` or `error`.
  public let event: String
  public let step: String?
  /// 0 to 100.
  public let progress: Double?
  public let data: JSONValue?
  /// Of `step_error`, after which the scene is made without this step, and of `error`.
  public let error: String?

  /// Whether nothing comes after it.
  public var isLast: Bool { event == "done" || event == "error" }
  /// With `done`.
  public var timepointID: Timepoint.ID? { data?["timepoint_id"]?.string }
}

/// A model that makes texts or images.
public struct TimepointModel: Sendable, Equatable, Decodable, Identifiable {
  /// For ``TimepointRequest/textModel`` and so on.
  public let id: String
  public let provider: String
  /// At the provider.
  public let name: String
  /// `text` or `image`.
  public let makes: String
  /// Whether it costs the operator nothing. The user pays the same credits.
  public let isFree: Bool
}

/// The models of a server.
public struct TimepointModels: Sendable, Equatable, Decodable {
  public let models: [TimepointModel]
  /// Whether scenes are made up without a model, as the server has no key of a provider.
  public let isRehearsal: Bool
}

/// A provider of models.
public struct TimepointModelProvider: Sendable, Equatable, Decodable {
  /// Whether the server has a key.
  public let configured: Bool
  /// Whether the last call was answered. nil: not configured.
  public let answering: Bool?
}
