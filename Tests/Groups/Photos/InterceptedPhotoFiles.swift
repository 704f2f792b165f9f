import Foundation
import Wire

@testable import Groups
@testable import Photos

/// A folder that runs `before` whenever a rendition is stored.
struct InterceptedPhotoFiles: PhotoFiles {
  let base: PhotoFolder
  let before: @Sendable () async throws -> Void

  func store(_ bytes: [UInt8], as name: PhotoFileName) async throws {
    try await before()
    try await base.store(bytes, as: name)
  }

  func original(of id: UUID, into folder: String) async throws -> UploadedFile? {
    try await base.original(of: id, into: folder)
  }

  func read(_ name: PhotoFileName, _ range: ByteRange?) async throws -> StoredBytes? {
    try await base.read(name, range)
  }

  func delete(_ names: [PhotoFileName]) async throws { try await base.delete(names) }
  func list(after name: PhotoFileName?) async throws -> [PhotoFileName] { try await base.list(after: name) }
  func uploadURL(of id: UUID, byteCount: Int, for lifetime: Duration) -> String? { nil }
  func marker() async throws -> StorageMarkerID? { try await base.marker() }
  func writeMarker(_ marker: StorageMarkerID) async throws { try await base.writeMarker(marker) }
}
