import Foundation
import Wire

/// What Supabase's clients read of a file that was uploaded.
struct UploadedObjectBody: Encodable {
  let Id: StoredObjectID
  let Key: String
  let path: String
  let fullPath: String

  init(_ object: StoredObject) {
    Id = object.id
    Key = object.name.description
    path = object.name.path
    fullPath = object.name.description
  }
}

/// An entry of a listing: a file, or a folder, of which everything but the name is null.
struct ListedObjectBody: Encodable {
  let name: String
  @NullCodable var id: String?
  @NullCodable var updated_at: String?
  @NullCodable var created_at: String?
  @NullCodable var last_accessed_at: String?
  @NullCodable var metadata: StoredObjectMetadata?

  init(folder: String) { name = folder }

  init(_ object: StoredObject, named name: String) {
    self.name = name
    id = object.id.description
    updated_at = RFC3339.milliseconds(object.updatedAt)
    created_at = RFC3339.milliseconds(object.createdAt)
    last_accessed_at = updated_at
    metadata = StoredObjectMetadata(object)
  }
}

struct StoredObjectMetadata: Encodable {
  let eTag: String
  let size: Int
  let mimetype: String
  let cacheControl: String
  let lastModified: String
  let contentLength: Int
  let httpStatusCode: Int

  init(_ object: StoredObject) {
    eTag = object.eTag
    size = object.byteCount
    mimetype = "image/jpeg"
    cacheControl = "max-age=\(object.cacheSeconds)"
    lastModified = RFC3339.milliseconds(object.updatedAt)
    contentLength = object.byteCount
    httpStatusCode = 200
  }
}

/// A file that was deleted.
struct DeletedObjectBody: Encodable {
  let id: StoredObjectID
  let name: String
  let bucket_id: String
  let owner: UserID
  let version: StoredFileID
  let created_at: String
  let updated_at: String
  let last_accessed_at: String
  let metadata: StoredObjectMetadata

  init(_ object: StoredObject) {
    id = object.id
    name = object.name.path
    bucket_id = object.name.bucket.rawValue
    owner = object.name.owner
    version = object.file
    created_at = RFC3339.milliseconds(object.createdAt)
    updated_at = RFC3339.milliseconds(object.updatedAt)
    last_accessed_at = updated_at
    metadata = StoredObjectMetadata(object)
  }
}

/// The answer of `/object/info`.
struct StoredObjectInfoBody: Encodable {
  let id: StoredObjectID
  let name: String
  let bucket_id: String
  let version: StoredFileID
  let size: Int
  let content_type: String
  let cache_control: String
  let etag: String
  let created_at: String
  let updated_at: String
  let last_modified: String
  let metadata: [String: String]

  init(_ object: StoredObject) {
    id = object.id
    name = object.name.path
    bucket_id = object.name.bucket.rawValue
    version = object.file
    size = object.byteCount
    content_type = "image/jpeg"
    cache_control = "max-age=\(object.cacheSeconds)"
    etag = object.eTag
    created_at = RFC3339.milliseconds(object.createdAt)
    updated_at = RFC3339.milliseconds(object.updatedAt)
    last_modified = updated_at
    metadata = [:]
  }
}

/// How long a link is valid: a number, or its text, as Supabase's client for Python sends it.
struct LinkLifetime: Decodable, Sendable {
  let seconds: Int

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let number = try? container.decode(Int.self) {
      seconds = number
    } else if let number = Int(try container.decode(String.self)) {
      seconds = number
    } else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "must be a number of seconds")
    }
  }
}

struct SignBody: Decodable, Sendable {
  let expiresIn: LinkLifetime

  /// - Throws: a validation failure for a lifetime that is not positive or is too long.
  func end(from now: Date) throws(Failure) -> Date { try expiresIn.end(from: now) }
}

struct SignManyBody: Decodable, Sendable {
  let expiresIn: LinkLifetime
  let paths: [String]

  static let pathsMax = 200
}

extension LinkLifetime {
  func end(from now: Date) throws(Failure) -> Date {
    guard (1...StoredObjectLinks.lifetimeMax).contains(seconds) else {
      throw .invalid(.init("expiresIn", "must be 1 to \(StoredObjectLinks.lifetimeMax) seconds"))
    }
    return now + TimeInterval(seconds)
  }
}

struct SignedURLBody: Encodable {
  let signedURL: String
}

struct SignedPathBody: Encodable {
  @NullCodable var error: String?
  let path: String
  @NullCodable var signedURL: String?
}

struct DeleteObjectsBody: Decodable, Sendable {
  let prefixes: [String]

  static let prefixesMax = StoredObjectDeletion.namesMax
}
