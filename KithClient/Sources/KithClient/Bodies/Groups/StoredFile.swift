import Foundation

/// A file, or a folder, which has a name only.
public struct StoredFile: Sendable, Equatable, Codable {
  /// What a file consists of.
  public struct Metadata: Sendable, Equatable, Codable {
    public let eTag: String?
    /// In bytes.
    public let size: Int
    public let mimetype: String
    public let cacheControl: String?
    public let lastModified: Date?
    public let contentLength: Int?
    public let httpStatusCode: Int?

    public init(
      eTag: String?, size: Int, mimetype: String, cacheControl: String?, lastModified: Date?, contentLength: Int?,
      httpStatusCode: Int?
    ) {
      self.eTag = eTag
      self.size = size
      self.mimetype = mimetype
      self.cacheControl = cacheControl
      self.lastModified = lastModified
      self.contentLength = contentLength
      self.httpStatusCode = httpStatusCode
    }
  }

  /// Within the folder.
  public let name: String
  /// nil for a folder.
  @NullCodable public private(set) var id: String?
  @NullCodable public private(set) var updatedAt: Date?
  @NullCodable public private(set) var createdAt: Date?
  @NullCodable public private(set) var lastAccessedAt: Date?
  @NullCodable public private(set) var metadata: Metadata?

  public var isFolder: Bool { id == nil }

  private enum CodingKeys: String, CodingKey {
    case name, id, metadata
    case updatedAt = "updated_at"
    case createdAt = "created_at"
    case lastAccessedAt = "last_accessed_at"
  }

  public init(
    name: String, id: String?, updatedAt: Date?, createdAt: Date?, lastAccessedAt: Date?, metadata: Metadata?
  ) {
    self.name = name
    self.id = id
    self.updatedAt = updatedAt
    self.createdAt = createdAt
    self.lastAccessedAt = lastAccessedAt
    self.metadata = metadata
  }
}

/// What is known of a file.
public struct StoredFileInfo: Sendable, Equatable, Codable, Identifiable {
  public let id: String
  /// The path, without the bucket.
  public let name: String
  public let bucketID: String?
  /// Another one after each upload.
  public let version: String?
  /// In bytes.
  public let size: Int
  public let contentType: String
  public let cacheControl: String?
  public let etag: String?
  public let createdAt: Date
  public let updatedAt: Date
  public let lastModified: Date?
  public let metadata: [String: String]?

  private enum CodingKeys: String, CodingKey {
    case id, name, version, size, etag, metadata
    case bucketID = "bucket_id"
    case contentType = "content_type"
    case cacheControl = "cache_control"
    case createdAt = "created_at"
    case updatedAt = "updated_at"
    case lastModified = "last_modified"
  }

  public init(
    id: String, name: String, bucketID: String?, version: String?, size: Int, contentType: String,
    cacheControl: String?, etag: String?, createdAt: Date, updatedAt: Date, lastModified: Date?,
    metadata: [String: String]?
  ) {
    self.id = id
    self.name = name
    self.bucketID = bucketID
    self.version = version
    self.size = size
    self.contentType = contentType
    self.cacheControl = cacheControl
    self.etag = etag
    self.createdAt = createdAt
    self.updatedAt = updatedAt
    self.lastModified = lastModified
    self.metadata = metadata
  }
}

/// A link to a file, relative to `/storage/v1`.
package struct SignedURLAnswer: Sendable, Codable {
  package let signedURL: String

  package init(signedURL: String) {
    self.signedURL = signedURL
  }
}

/// The link to one of several files. nil for one that the user may not see.
package struct SignedPath: Sendable, Codable {
  @NullCodable package private(set) var error: String?
  package let path: String
  @NullCodable package private(set) var signedURL: String?

  package init(error: String?, path: String, signedURL: String?) {
    self.error = error
    self.path = path
    self.signedURL = signedURL
  }
}
