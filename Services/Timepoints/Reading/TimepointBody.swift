import Foundation
import Web
import Wire

/// A timepoint as apps read it.
struct TimepointBody: Encodable, Sendable {
  let id: TimepointID
  let query: String
  let slug: String
  let status: Timepoint.Status
  @NullCodable var year: Int?
  @NullCodable var month: Int?
  @NullCodable var day: Int?
  @NullCodable var season: String?
  @NullCodable var time_of_day: String?
  @NullCodable var era: String?
  @NullCodable var location: String?
  @NullCodable var image_prompt: String?
  let has_image: Bool
  @NullCodable var image_url: String?
  var image_base64: String?
  @NullCodable var text_model_used: String?
  @NullCodable var image_model_used: String?
  let created_at: Date
  @NullCodable var error: String?
  @NullCodable var blob_folder_name: String?
  @NullCodable var blob_path: String?
  @NullCodable var blob_written_at: Date?
  let is_deleted: Bool
  let sequence_id: TimepointID
  let render_type = "image"
  let generation_version = 1
  let tags: [String]
  let visibility: Timepoint.Visibility
  @NullCodable var share_url: String?
  let preset_used: String
  @NullCodable var generation_time_ms: Int?
  @NullCodable var request_context: JSONValue?
  @NullCodable var credits_charged: Int?
  // Only with `full`.
  var metadata: TimepointMetadata?
  var characters: SceneCharactersBody?
  var scene: SceneSetting?
  var dialog: [DialogLine]?
  var grounding: Grounding?
  var moment: Moment?
}

/// How a scene was made and is to be seen.
struct TimepointMetadata: Encodable, Sendable {
  let title: String
  let timeline: Timeline
  let camera: Camera
  let image_style: String
  @NullCodable var parent_id: TimepointID?
  @NullCodable var direction: JumpDirection?
}

struct SceneCharactersBody: Encodable, Sendable {
  let characters: [SceneCharacter]
  let relationships: [CharacterGraph.Relationship]
}

/// Writes timepoints for a viewer: what only the owner may see is left out for others.
struct TimepointPresenter: Sendable {
  let links: TimepointLinks
  let blobs: BlobFolder?

  func body(_ timepoint: Timepoint, for viewer: Viewer, isFull: Bool = false, image: Data? = nil) -> TimepointBody {
    let (scene, isOwner) = (timepoint.scene, viewer.owns(timepoint))
    let folder = isOwner ? timepoint.blobFolder : nil
    var body = TimepointBody(
      id: timepoint.id, query: timepoint.query, slug: timepoint.slug, status: timepoint.status,
      year: scene?.timeline.year, month: scene?.timeline.month, day: scene?.timeline.day,
      season: scene?.timeline.season, time_of_day: scene?.timeline.timeOfDay, era: scene?.timeline.era,
      location: scene?.timeline.location, image_prompt: scene?.imagePrompt.prompt, has_image: timepoint.hasImage,
      image_url: timepoint.hasImage ? links.image(of: timepoint) : nil, image_base64: image?.base64EncodedString(),
      text_model_used: scene?.textModel, image_model_used: scene?.imageModel, created_at: timepoint.createdAt,
      error: isOwner ? timepoint.failure?.message : nil, blob_folder_name: folder,
      blob_path: folder.flatMap { blobs?.path(of: $0) }, blob_written_at: isOwner ? timepoint.blobWrittenAt : nil,
      is_deleted: timepoint.deletedAt != nil, sequence_id: timepoint.sequence, tags: scene.map(Self.tags) ?? [],
      visibility: timepoint.visibility, share_url: links.share(timepoint), preset_used: timepoint.preset.rawValue,
      generation_time_ms: timepoint.generationMilliseconds,
      request_context: isOwner ? timepoint.requestContext : nil,
      credits_charged: isOwner ? timepoint.creditsCharged : nil)
    guard isFull, let scene else { return body }
    body.metadata = TimepointMetadata(
      title: scene.title, timeline: scene.timeline, camera: scene.camera, image_style: scene.imagePrompt.style,
      parent_id: timepoint.parent, direction: timepoint.direction)
    body.characters = SceneCharactersBody(characters: scene.characters, relationships: scene.graph.relationships)
    body.scene = scene.scene
    body.dialog = scene.dialog
    body.grounding = scene.grounding
    body.moment = scene.moment
    return body
  }

  /// Words by which scenes can be filtered: the era and the season.
  private static func tags(of scene: GeneratedScene) -> [String] {
    [scene.timeline.era, scene.timeline.season ?? ""].map { $0.lowercased() }.filter { !$0.isEmpty }
  }
}

/// The addresses in the answers.
struct TimepointLinks: Sendable {
  /// `PUBLIC_URL`.
  let base: String
  /// `SHARE_URL_BASE`; nil for none.
  let shareBase: String?

  init(_ settings: Settings) throws {
    base = settings.string("PUBLIC_URL", default: "http://127.0.0.1:8080").withoutTrailingSlash
    shareBase = settings.nonempty("SHARE_URL_BASE")?.withoutTrailingSlash
  }

  func image(of timepoint: Timepoint) -> String { "\(base)/api/v1/timepoints/\(timepoint.id)/image" }

  /// nil for a private one.
  func share(_ timepoint: Timepoint) -> String? {
    timepoint.visibility == .public ? shareBase.map { "\($0)/\(timepoint.slug)" } : nil
  }
}

extension String {
  fileprivate var withoutTrailingSlash: String { hasSuffix("/") ? String(dropLast()) : self }
}
