import Foundation

/// A scene from history.
public struct Timepoint: Sendable, Equatable, Codable, Identifiable {
  /// Who may see a scene: everybody, or its owner only.
  public enum Visibility: String, Sendable, Codable { case `public`, `private` }

  public let id: String
  public let query: String
  /// The name in its link.
  public let slug: String
  /// `pending`, `processing`, `completed` or `failed`.
  public let status: String
  /// Negative before our era, never 0. nil before the scene is made, as the other members of its time.
  @NullCodable public private(set) var year: Int?
  @NullCodable public private(set) var month: Int?
  @NullCodable public private(set) var day: Int?
  @NullCodable public private(set) var season: String?
  @NullCodable public private(set) var timeOfDay: String?
  @NullCodable public private(set) var era: String?
  @NullCodable public private(set) var location: String?
  /// What the image was made of.
  @NullCodable public private(set) var imagePrompt: String?
  public let hasImage: Bool?
  /// Of a JPEG. For a private scene it wants a bearer: ``Timepoints/image(of:pixelsMax:)`` sends one.
  public var imageURL: URL? { imageLink?.url }
  /// The JPEG, where it was asked for.
  public let imageBase64: Data?
  @NullCodable public private(set) var textModelUsed: String?
  @NullCodable public private(set) var imageModelUsed: String?
  public let createdAt: Date?
  /// Why it failed. For its owner.
  @NullCodable public private(set) var error: String?
  /// Where the server has written its folder, if it has one. For its owner, as the next two.
  @NullCodable public private(set) var blobFolderName: String?
  @NullCodable public private(set) var blobPath: String?
  @NullCodable public private(set) var blobWrittenAt: Date?
  public let isDeleted: Bool?
  /// The same for all scenes that were made from each other.
  public let sequenceID: String?
  /// Always `image`.
  public let renderType: String?
  public let generationVersion: Int?
  public let tags: [String]?
  public let visibility: Visibility?
  /// nil without the setting of the server, and for a private scene.
  public var shareURL: URL? { shareLink?.url }
  public let presetUsed: String?
  /// In milliseconds.
  @NullCodable public private(set) var generationTimeMs: Int?
  /// What the request had, as it came. For its owner, as the next one.
  @NullCodable public private(set) var requestContext: JSONValue?
  @NullCodable public private(set) var creditsCharged: Int?
  /// Only in full, as the next five.
  public let metadata: SceneMetadata?
  public let characters: SceneCharacters?
  public let scene: SceneSetting?
  public let dialog: [DialogLine]?
  public let grounding: SceneGrounding?
  public let moment: SceneMoment?
  @NullCodable private var imageLink: LinkText?
  @NullCodable private var shareLink: LinkText?

  /// Whether nothing changes by itself any more: it is completed, or has failed.
  public var isFinished: Bool { status == "completed" || status == "failed" }

  private enum CodingKeys: String, CodingKey {
    case id, query, slug, status, year, month, day, season, era, location, error, tags, visibility, metadata, characters
    case scene, dialog, grounding, moment
    case timeOfDay = "time_of_day"
    case imagePrompt = "image_prompt"
    case hasImage = "has_image"
    case imageLink = "image_url"
    case imageBase64 = "image_base64"
    case textModelUsed = "text_model_used"
    case imageModelUsed = "image_model_used"
    case createdAt = "created_at"
    case blobFolderName = "blob_folder_name"
    case blobPath = "blob_path"
    case blobWrittenAt = "blob_written_at"
    case isDeleted = "is_deleted"
    case sequenceID = "sequence_id"
    case renderType = "render_type"
    case generationVersion = "generation_version"
    case shareLink = "share_url"
    case presetUsed = "preset_used"
    case generationTimeMs = "generation_time_ms"
    case requestContext = "request_context"
    case creditsCharged = "credits_charged"
  }

  public init(
    id: String, query: String, slug: String, status: String, year: Int?, month: Int?, day: Int?, season: String?,
    timeOfDay: String?, era: String?, location: String?, imagePrompt: String?, hasImage: Bool?, imageURL: String?,
    imageBase64: Data? = nil, textModelUsed: String?, imageModelUsed: String?, createdAt: Date?, error: String?,
    blobFolderName: String?, blobPath: String?, blobWrittenAt: Date?, isDeleted: Bool?, sequenceID: String?,
    renderType: String?, generationVersion: Int?, tags: [String]?, visibility: Visibility?, shareURL: String?,
    presetUsed: String?, generationTimeMs: Int?, requestContext: JSONValue?, creditsCharged: Int?,
    metadata: SceneMetadata? = nil, characters: SceneCharacters? = nil, scene: SceneSetting? = nil,
    dialog: [DialogLine]? = nil, grounding: SceneGrounding? = nil, moment: SceneMoment? = nil
  ) {
    self.id = id
    self.query = query
    self.slug = slug
    self.status = status
    self.year = year
    self.month = month
    self.day = day
    self.season = season
    self.timeOfDay = timeOfDay
    self.era = era
    self.location = location
    self.imagePrompt = imagePrompt
    self.hasImage = hasImage
    imageLink = imageURL.map { LinkText($0) }
    self.imageBase64 = imageBase64
    self.textModelUsed = textModelUsed
    self.imageModelUsed = imageModelUsed
    self.createdAt = createdAt
    self.error = error
    self.blobFolderName = blobFolderName
    self.blobPath = blobPath
    self.blobWrittenAt = blobWrittenAt
    self.isDeleted = isDeleted
    self.sequenceID = sequenceID
    self.renderType = renderType
    self.generationVersion = generationVersion
    self.tags = tags
    self.visibility = visibility
    shareLink = shareURL.map { LinkText($0) }
    self.presetUsed = presetUsed
    self.generationTimeMs = generationTimeMs
    self.requestContext = requestContext
    self.creditsCharged = creditsCharged
    self.metadata = metadata
    self.characters = characters
    self.scene = scene
    self.dialog = dialog
    self.grounding = grounding
    self.moment = moment
  }
}
