import Foundation
import NIOCore
import NIOPosix
import Wire

/// Where the bytes of photos are: a folder, or a bucket of an S3-compatible store. The rows in the database say which of
/// them anybody may see.
protocol PhotoFiles: Sendable {
  /// Lasting once this returns. Stores over what is there.
  func store(_ bytes: [UInt8], as name: PhotoFileName) async throws

  /// The same, a piece at a time where the store is a folder.
  func store(_ file: UploadedFile, as name: PhotoFileName) async throws

  /// Fetches an original back to be looked at; nil when it is not there.
  ///
  /// - Throws: 413 when it is larger than a photo may be.
  func original(of photo: PhotoID, into folder: String) async throws -> UploadedFile?

  /// Part of a file, or all of it; nil when it is not there.
  ///
  /// - Throws: ``RangeNotSatisfiable``.
  func read(_ name: PhotoFileName, _ range: ByteRange?) async throws -> StoredBytes?

  /// What is not there is no failure.
  func delete(_ names: [PhotoFileName]) async throws

  /// The next files in the order of their names, at least one unless there are none left.
  func list(after name: PhotoFileName?) async throws -> [PhotoFileName]

  /// An address to which an original of so many bytes, and none of more, can be sent without us in between; nil when it
  /// has to be sent to us.
  func uploadURL(of photo: PhotoID, byteCount: Int, for lifetime: Duration) -> String?

  /// What is written on the store itself; nil when nothing is.
  func mark() async throws -> StoreMarkID?

  /// Lasting once this returns.
  func place(_ mark: StoreMarkID) async throws

  /// Called every few seconds.
  func tidy()
}

extension PhotoFiles {
  /// What ``mark()`` is called in a store. It has no dot, and so is no photo's.
  static var markName: String { "store-mark" }

  func store(_ file: UploadedFile, as name: PhotoFileName) async throws {
    try await store(NIOThreadPool.singleton.runIfActive { try file.bytes() }, as: name)
  }

  func tidy() {}

  /// All that there is of these photos, or these kinds of it.
  func delete(_ photos: [PhotoID], _ kinds: [PhotoFileName.Kind] = PhotoFileName.Kind.allCases) async throws {
    try await delete(photos.flatMap { photo in kinds.map { PhotoFileName(photo, $0) } })
  }
}

/// What is kept of a photo, by a name that nobody chose: the photo's id, mostly random, and what of it.
struct PhotoFileName: Sendable, Hashable, Comparable {
  enum Kind: String, Sendable, CaseIterable {
    case large = "1080.jpg"
    case small = "320.jpg"
    /// As it came from the phone, until it has been looked at.
    case original = "upload"
  }

  let photo: PhotoID
  let kind: Kind

  init(_ photo: PhotoID, _ kind: Kind) {
    self.photo = photo
    self.kind = kind
  }

  init(_ photo: PhotoID, size: PhotoSize) { self.init(photo, size == .large ? .large : .small) }

  /// nil for a name that is none of ours.
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

/// Part of a stored file, or all of it.
struct StoredBytes: Sendable {
  /// Of the whole file.
  let totalCount: Int
  let range: Range<Int>
  let content: Content

  enum Content: Sendable {
    case whole(ByteBuffer)
    /// Gives piece after piece, each once the one before has been taken.
    case pieces(@Sendable (_ take: (ByteBuffer) async throws -> Void) async throws -> Void)
  }
}
