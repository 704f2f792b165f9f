import Foundation
import NIOCore
import NIOPosix
import Wire

/// Files of photos, in a folder or in a bucket of an S3-compatible store. The rows in the database of their owner decide
/// who may see which of them.
package protocol PhotoFiles: Sendable {
  /// Durable when it returns. Replaces an existing file.
  func store(_ bytes: [UInt8], as name: PhotoFileName) async throws

  /// Durable when it returns. Replaces an existing file. A folder copies in chunks.
  func store(_ file: UploadedFile, as name: PhotoFileName) async throws

  /// Fetches an original for rendering; nil when it does not exist.
  ///
  /// - Throws: 413 when it is larger than a photo may be.
  func original(of id: UUID, into folder: String) async throws -> UploadedFile?

  /// Reads a range of a file, or all of it; nil when it does not exist.
  ///
  /// - Throws: ``RangeNotSatisfiable``.
  func read(_ name: PhotoFileName, _ range: ByteRange?) async throws -> StoredBytes?

  /// The whole file if it is in memory.
  func cached(_ name: PhotoFileName) -> ByteBuffer?

  /// Safe to repeat: a file that does not exist is no failure.
  func delete(_ names: [PhotoFileName]) async throws

  /// A page of files in the order of their names; empty only after the last one.
  func list(after name: PhotoFileName?) async throws -> [PhotoFileName]

  /// A presigned URL to which the client uploads an original of exactly `byteCount` bytes directly; nil when the
  /// storage has none and the upload must go through this service.
  func uploadURL(of id: UUID, byteCount: Int, for lifetime: Duration) -> String?

  /// The marker in the storage; nil when there is none.
  func marker() async throws -> StorageMarkerID?

  /// Durable when it returns.
  func writeMarker(_ marker: StorageMarkerID) async throws

  /// Removes expired entries from memory. Called every few seconds.
  func removeExpired()
}

extension PhotoFiles {
  /// The name of the file that holds ``marker()``. It has no dot, so it is never the name of a photo's file.
  package static var markerName: String { "store-mark" }

  package func store(_ file: UploadedFile, as name: PhotoFileName) async throws {
    try await store(NIOThreadPool.singleton.runIfActive { try file.bytes() }, as: name)
  }

  package func removeExpired() {}

  package func cached(_ name: PhotoFileName) -> ByteBuffer? { nil }

  /// Stores both renditions of a photo.
  package func store(_ renditions: Renditions, of id: UUID) async throws {
    for size in PhotoSize.allCases { try await store(renditions[size], as: PhotoFileName(id, size: size)) }
  }

  /// Deletes all files of these ids, or those of the given kinds.
  package func delete(_ ids: [UUID], _ kinds: [PhotoFileName.Kind] = PhotoFileName.Kind.allCases) async throws {
    try await delete(ids.flatMap { id in kinds.map { PhotoFileName(id, $0) } })
  }
}
