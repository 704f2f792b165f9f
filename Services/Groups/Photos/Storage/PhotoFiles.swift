import Foundation
import NIOCore
import NIOPosix
import Wire

/// The files of photos, in a folder or in a bucket of an S3-compatible store. The rows in the database decide who may
/// see which of them.
protocol PhotoFiles: Sendable {
  /// Durable when it returns. Replaces an existing file.
  func store(_ bytes: [UInt8], as name: PhotoFileName) async throws

  /// Durable when it returns. Replaces an existing file. A folder copies in chunks.
  func store(_ file: UploadedFile, as name: PhotoFileName) async throws

  /// Fetches an original for rendering; nil when it does not exist.
  ///
  /// - Throws: 413 when it is larger than a photo may be.
  func original(of photo: PhotoID, into folder: String) async throws -> UploadedFile?

  /// Reads a range of a file, or all of it; nil when it does not exist.
  ///
  /// - Throws: ``RangeNotSatisfiable``.
  func read(_ name: PhotoFileName, _ range: ByteRange?) async throws -> StoredBytes?

  /// Safe to repeat: a file that does not exist is no failure.
  func delete(_ names: [PhotoFileName]) async throws

  /// A page of files in the order of their names; empty only after the last one.
  func list(after name: PhotoFileName?) async throws -> [PhotoFileName]

  /// A presigned URL to which the client uploads an original of exactly `byteCount` bytes directly; nil when the
  /// storage has none and the upload must go through this service.
  func uploadURL(of photo: PhotoID, byteCount: Int, for lifetime: Duration) -> String?

  /// The marker in the storage; nil when there is none.
  func marker() async throws -> StorageMarkerID?

  /// Durable when it returns.
  func writeMarker(_ marker: StorageMarkerID) async throws

  /// Removes expired entries from memory. Called every few seconds.
  func removeExpired()
}

extension PhotoFiles {
  /// The name of the file that holds ``marker()``. It has no dot, so it is never the name of a photo's file.
  static var markerName: String { "store-mark" }

  func store(_ file: UploadedFile, as name: PhotoFileName) async throws {
    try await store(NIOThreadPool.singleton.runIfActive { try file.bytes() }, as: name)
  }

  func removeExpired() {}

  /// Deletes all files of these photos, or those of the given kinds.
  func delete(_ photos: [PhotoID], _ kinds: [PhotoFileName.Kind] = PhotoFileName.Kind.allCases) async throws {
    try await delete(photos.flatMap { photo in kinds.map { PhotoFileName(photo, $0) } })
  }
}

/// The name of a photo's file: the photo's id, which is mostly random, and the kind of file.
struct PhotoFileName: Sendable, Hashable, Comparable {
  enum Kind: String, Sendable, CaseIterable {
    case large = "1080.jpg"
    case small = "320.jpg"
    /// The original upload, until it has been rendered.
    case original = "upload"
  }

  let photo: PhotoID
  let kind: Kind

  init(_ photo: PhotoID, _ kind: Kind) {
    self.photo = photo
    self.kind = kind
  }

  init(_ photo: PhotoID, size: PhotoSize) { self.init(photo, size == .large ? .large : .small) }

  /// nil for a name of any other form.
  init?(_ text: some StringProtocol) {
    let parts = text.split(separator: ".", maxSplits: 1)
    guard parts.count == 2, let photo = PhotoID(String(parts[0])), photo.description == parts[0],
      let kind = Kind(rawValue: String(parts[1]))
    else { return nil }
    self.init(photo, kind)
  }

  var text: String { "\(photo).\(kind.rawValue)" }

  static func < (left: PhotoFileName, right: PhotoFileName) -> Bool { left.text < right.text }
}

/// A range of a stored file, or all of it.
struct StoredBytes: Sendable {
  /// Of the whole file.
  let totalCount: Int
  let range: Range<Int>
  let content: Content

  enum Content: Sendable {
    case buffer(ByteBuffer)
    /// Passes chunk after chunk to `write`, each after the call for the previous one has returned.
    case chunks(@Sendable (_ write: (ByteBuffer) async throws -> Void) async throws -> Void)
  }
}
