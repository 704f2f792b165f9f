import ClientBodies
import Foundation
import Web
import Wire

/// Writes timepoints for a viewer: what only the owner may see is left out for others.
struct TimepointPresenter: Sendable {
  let links: TimepointLinks
  let blobs: BlobFolder?

  func body(
    _ timepoint: Timepoint, for viewer: Viewer, isFull: Bool = false, image: Data? = nil
  ) -> ClientBodies.Timepoint {
    let (scene, isOwner) = (timepoint.scene, viewer.owns(timepoint))
    let (timeline, shown) = (scene?.timeline, isFull ? scene : nil)
    let folder = isOwner ? timepoint.blobFolder : nil
    return ClientBodies.Timepoint(
      id: timepoint.id.description, query: timepoint.query, slug: timepoint.slug, status: timepoint.status.rawValue,
      year: timeline?.year, month: timeline?.month, day: timeline?.day, season: timeline?.season,
      timeOfDay: timeline?.timeOfDay, era: timeline?.era, location: timeline?.location,
      imagePrompt: scene?.imagePrompt.prompt, hasImage: timepoint.hasImage,
      imageURL: timepoint.hasImage ? links.image(of: timepoint) : nil, imageBase64: image,
      textModelUsed: scene?.textModel, imageModelUsed: scene?.imageModel, createdAt: timepoint.createdAt,
      error: isOwner ? timepoint.failure?.message : nil, blobFolderName: folder,
      blobPath: folder.flatMap { blobs?.path(of: $0) }, blobWrittenAt: isOwner ? timepoint.blobWrittenAt : nil,
      isDeleted: timepoint.deletedAt != nil, sequenceID: timepoint.sequence.description, renderType: "image",
      generationVersion: 1, tags: scene.map(Self.tags) ?? [], visibility: .init(timepoint.visibility),
      shareURL: links.share(timepoint), presetUsed: timepoint.preset.rawValue,
      generationTimeMs: timepoint.generationMilliseconds,
      requestContext: isOwner ? timepoint.requestContext.map { .init($0) } : nil,
      creditsCharged: isOwner ? timepoint.creditsCharged : nil,
      metadata: shown.map { SceneMetadata($0, of: timepoint) }, characters: shown.map { .init($0) },
      scene: shown.map { .init($0.scene) }, dialog: shown?.dialog.map { .init($0) },
      grounding: shown.map { .init($0.grounding) }, moment: shown.map { .init($0.moment) })
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
    base = settings.publicOrigin
    shareBase = settings.nonempty("SHARE_URL_BASE").map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
  }

  func image(of timepoint: Timepoint) -> String { "\(base)/api/v1/timepoints/\(timepoint.id)/image" }

  /// nil for a private one.
  func share(_ timepoint: Timepoint) -> String? {
    timepoint.visibility == .public ? shareBase.map { "\($0)/\(timepoint.slug)" } : nil
  }
}

extension ClientBodies.Timepoint.Visibility {
  fileprivate init(_ visibility: Timepoint.Visibility) {
    self = visibility == .public ? .public : .private
  }
}
