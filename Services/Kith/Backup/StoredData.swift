import Database
import Foundation
import Web

/// Where a `kith` of these settings keeps what it stores.
struct StoredData {
  /// The SQLite file of each service.
  let databases: [String: String]
  /// nil when the photos are in a bucket.
  let photos: String?
  /// The secrets that `kith` has generated in development, without which tokens and encrypted columns are useless.
  let secrets: String

  /// - Throws: ``BackupFailure`` when the data is in PostgreSQL.
  init(_ settings: Settings) throws {
    let folder = settings.string("DATA_DIR", default: "data")
    var databases: [String: String] = [:]
    for service in ServiceName.bundled.map(\.rawValue) {
      guard
        case .sqlite(let path) = try DatabaseURL(
          settings.string("DATABASE_URL", default: "\(folder)/"), service: service)
      else { throw BackupFailure("the data is in PostgreSQL, which has tools of its own: pg_dump, pg_basebackup") }
      databases[service] = path
    }
    self.databases = databases
    let storage = settings.string("PHOTO_STORAGE", default: "file://\(folder)/photos")
    photos = storage.hasPrefix("file://") ? String(storage.dropFirst("file://".count)) : nil
    secrets = "\(folder)/secrets.env"
  }
}
