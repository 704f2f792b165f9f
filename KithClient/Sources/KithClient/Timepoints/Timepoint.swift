import Foundation

/// A scene from history.
public struct Timepoint: Sendable, Equatable, Decodable, Identifiable {
  /// Who may see a scene: everybody, or its owner only.
  public enum Visibility: String, Sendable, Codable { case `public`, `private` }

  public let id: String
  public let query: String
  /// The name in its link.
  public let slug: String
  /// `pending`, `processing`, `completed` or `failed`.
  public let status: String
  /// Negative before our era, never 0. nil before the scene is made, as the other members of its time.
  public let year: Int?
  public let month: Int?
  public let day: Int?
  public let season: String?
  public let timeOfDay: String?
  public let era: String?
  public let location: String?
  public let hasImage: Bool?
  /// Of a JPEG. For a private scene it wants a bearer: ``Timepoints/image(of:pixelsMax:)`` sends one.
  public let imageURL: URL?
  /// The JPEG, where it was asked for.
  public let imageBase64: Data?
  /// What the image was made of.
  public let imagePrompt: String?
  public let textModelUsed: String?
  public let imageModelUsed: String?
  public let presetUsed: String?
  /// Why it failed. For its owner, as the next four.
  public let error: String?
  /// What the request had, as it came.
  public let requestContext: JSONValue?
  public let creditsCharged: Int?
  /// Where the server has written its folder, if it has one.
  public let blobPath: String?
  public let blobWrittenAt: Date?
  /// nil without the setting of the server, and for a private scene.
  public let shareURL: URL?
  public let visibility: Visibility?
  public let tags: [String]?
  /// The same for all scenes that were made from each other.
  public let sequenceID: String?
  public let isDeleted: Bool?
  /// In milliseconds.
  public let generationTimeMs: Int?
  public let createdAt: Date?

  /// Only in full, as the next five.
  public let characters: SceneCharacters?
  public let scene: SceneSetting?
  public let dialog: [DialogLine]?
  public let moment: SceneMoment?
  public let grounding: SceneGrounding?
  public let metadata: SceneMetadata?

  /// Whether nothing changes by itself any more: it is completed, or has failed.
  public var isFinished: Bool { status == "completed" || status == "failed" }
}

/// A scene in a list.
public struct TimepointSummary: Sendable, Equatable, Decodable, Identifiable {
  public let id: String
  public let query: String
  public let slug: String
  public let status: String
  public let year: Int?
  public let location: String?
  public let hasImage: Bool?
  public let createdAt: Date?
}

/// A page of a list.
public struct TimepointPage<Item: Sendable & Equatable & Decodable>: Sendable, Equatable, Decodable {
  public let items: [Item]
  /// Of all pages. The server counts up to 10,000.
  public let total: Int
  /// From 1.
  public let page: Int
  public let pageSize: Int
}

/// A part of an image.
public struct TimepointImagePart: Sendable, Equatable {
  public let data: Data
  /// Of the whole image.
  public let totalByteCount: Int
}
