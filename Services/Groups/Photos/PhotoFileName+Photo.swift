import Foundation
import Photos

/// The files of photos of groups, by the ids of the photos.
extension PhotoFileName {
  init(_ photo: PhotoID, _ kind: Kind) { self.init(photo.uuid, kind) }

  init(_ photo: PhotoID, size: PhotoSize) { self.init(photo.uuid, size: size) }

  var photo: PhotoID { PhotoID(id) }
}

extension PhotoFiles {
  /// Deletes all files of these photos, or those of the given kinds.
  func delete(_ photos: [PhotoID], _ kinds: [PhotoFileName.Kind] = PhotoFileName.Kind.allCases) async throws {
    try await delete(photos.map(\.uuid), kinds)
  }
}
