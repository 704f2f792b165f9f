import Foundation
import Photos
import Wire

/// Protects photos from a misconfigured process. With an unmounted folder, another deployment's bucket or an empty
/// database, all photos would look as if they had lost their files, or all files as if they were orphans.
extension PhotoSweep {
  /// Whether the storage belongs to this database. Writes the marker to both on first use, if files and rows match.
  ///
  /// - Parameter time: photos younger than this may have no files yet.
  func isOwnStorage(olderThan time: Date) async throws -> Bool {
    let found = try await files.marker()
    if try await store.storageMarker() == nil {
      guard found == nil, try await filesMatchRows(olderThan: time) else { return false }
      try await store.insert(.new(at: now()))
    }
    guard let marker = try await store.storageMarker() else { return false }
    if let found, found != marker.id { return false }
    guard !marker.isWritten else { return found != nil }
    if found == nil {
      guard try await filesMatchRows(olderThan: time) else { return false }
      try await files.writeMarker(marker.id)
    }
    try await store.setMarkerWritten()
    return true
  }

  /// Whether a batch of visible photos has its files, or there are neither photos nor files.
  private func filesMatchRows(olderThan time: Date) async throws -> Bool {
    let ready = try await store.ready(from: nil, after: nil, before: nil, limit: Self.batch)
    guard !ready.isEmpty else { return try await files.list(after: nil).isEmpty }
    var hasAnyFile = false
    for photo in ready {
      let hasFile = try await files.read(PhotoFileName(photo, .large), .from(0, through: 0)) != nil
      guard hasFile || !photo.isOlder(than: time) else { return false }
      hasAnyFile = hasAnyFile || hasFile
    }
    return hasAnyFile
  }
}
