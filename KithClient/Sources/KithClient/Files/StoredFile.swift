import Foundation

/// The name of a file: its bucket, and its path in it, which begins with the id of its owner.
public struct FileName: Sendable, Hashable {
  /// Who may see a file.
  public enum Bucket: String, Sendable {
    /// For the user, and for who sees a submission of a hunt that names the file.
    case photos
    /// For everybody.
    case avatars
  }

  public let bucket: Bucket
  /// Such as `{user}/door.jpg`; at most three names after the user's.
  public let path: String

  /// - Parameter path: begins with the id of the owner.
  public init(_ path: String, in bucket: Bucket) {
    self.bucket = bucket
    self.path = path
  }
}

/// A file, or a folder, which has a name only.
public struct StoredFile: Sendable, Equatable, Decodable {
  /// What a file consists of.
  public struct Metadata: Sendable, Equatable, Decodable {
    /// In bytes.
    public let size: Int
    public let mimetype: String
  }

  /// Within the folder.
  public let name: String
  /// nil for a folder.
  public let id: String?
  public let createdAt: Date?
  public let updatedAt: Date?
  public let metadata: Metadata?

  public var isFolder: Bool { id == nil }
}

/// What is known of a file.
public struct StoredFileInfo: Sendable, Equatable, Decodable, Identifiable {
  public let id: String
  /// The path, without the bucket.
  public let name: String
  /// In bytes.
  public let size: Int
  public let contentType: String
  public let createdAt: Date
  public let updatedAt: Date
}
