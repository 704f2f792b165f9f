import ClientBodies
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

/// A file that was deleted.
struct DeletedObjectBody: Encodable {
  let id: StoredObjectID
  let name: String
  let bucket_id: String
  let owner: UserID
  let version: StoredFileID
  let created_at: Date
  let updated_at: Date
  let last_accessed_at: Date
  let metadata: ClientBodies.StoredFile.Metadata

  init(_ object: StoredObject) {
    id = object.id
    name = object.name.path
    bucket_id = object.name.bucket.rawValue
    owner = object.name.owner
    version = object.file
    created_at = object.createdAt
    updated_at = object.updatedAt
    last_accessed_at = object.updatedAt
    metadata = .init(object)
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

struct DeleteObjectsBody: Decodable, Sendable {
  let prefixes: [String]

  static let prefixesMax = StoredObjectDeletion.namesMax
}
