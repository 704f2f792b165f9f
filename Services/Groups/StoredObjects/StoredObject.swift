import Foundation
import Wire

typealias StoredObjectID = ID<StoredObject>

/// A file in the storage, whose name may be given to other objects by then: each content has a file of its own.
enum StoredFile {}

typealias StoredFileID = ID<StoredFile>

/// A photo that a user has stored under a name. It stays until it is deleted.
struct StoredObject: Sendable, Hashable {
  let id: StoredObjectID
  let name: StoredObjectName
  let file: StoredFileID
  /// Of the large rendition.
  let byteCount: Int
  /// How long clients may cache the file.
  let cacheSeconds: Int
  let createdAt: Date
  let updatedAt: Date

  /// How many files a user may have.
  static let countMax = 1000
  /// How many bytes the files of a user may have, in both sizes.
  static let bytesMax = 512 * 1024 * 1024
  static let defaultCacheSeconds = 3600
  static let cacheSecondsMax = 31_536_000

  var eTag: String { "\"\(file)\"" }
}

/// A photo that is rendered and about to be stored.
struct NewStoredObject: Sendable {
  let name: StoredObjectName
  let file: StoredFileID
  /// Of the large rendition.
  let byteCount: Int
  /// Of all its files.
  let bytesInAll: Int
  let cacheSeconds: Int
}

extension Failure {
  static let bucketNotFound = Failure(.notFound, "not_found", "Bucket not found")
  static let objectNotFound = Failure(.notFound, "not_found", "Object not found")
  static let objectExists = Failure(.conflict, "Duplicate", "The resource already exists")
  static let objectNameInvalid = Failure(
    .malformed, "InvalidKey",
    "A name has one to three parts of letters, digits, dots, hyphens and underscores after the user's id.")
  static let notOwnObject = Failure(.forbidden, "Unauthorized", "A name must begin with the id of the user.")
  static let objectLinkInvalid = Failure(.malformed, "InvalidJWT", "This link is not valid, or has expired.")
  static let tooManyObjects = Failure(
    .forbidden, "quota_exceeded", "A user has at most \(StoredObject.countMax) files, of 512 MB in all.")
}
