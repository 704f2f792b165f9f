import Foundation

/// The last file of a backup: what the others are.
struct BackupManifest: Codable, Equatable {
  static let name = "manifest.json"
  static let currentFormat = 1

  var format = Self.currentFormat
  /// The version of `kith` that made the backup.
  let version: String
  /// The moment that all databases are of.
  let createdAt: Date
  /// The name of the database of each service.
  let databases: [String: String]
  let files: [File]

  struct File: Codable, Equatable {
    let name: String
    let bytes: Int
    let sha256: String
  }

  /// One line for the operator.
  func summary(of path: String) -> String {
    let photoCount = files.count { $0.name.hasPrefix("photos/") }
    let megabytes = files.reduce(0) { $0 + $1.bytes } / 1_000_000
    let moment = createdAt.formatted(.iso8601)
    return "\(path): \(databases.count) databases and \(photoCount) files of photos, as of \(moment), \(megabytes) MB"
  }

  private enum CodingKeys: String, CodingKey {
    case format, version, databases, files
    case createdAt = "created_at"
  }
}

/// Why a backup cannot be made or restored, as one line for its operator.
struct BackupFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
