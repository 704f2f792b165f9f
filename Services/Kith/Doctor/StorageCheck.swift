import Database
import Foundation
import Logging
import Web

/// Whether data can be stored: the folder, the room on its disk, and the databases.
struct StorageCheck {
  let settings: Settings
  /// The free bytes of the disk with a folder; nil for a file system that does not tell.
  var freeBytes: (_ folder: String) -> Int? = Self.freeBytes

  private var folder: String { settings.string("DATA_DIR", default: "data") }

  func findings() async -> [Finding] {
    let findings = [folderFinding(), spaceFinding()]
    do {
      // The same is wrong for all.
      _ = try url(of: .auth)
    } catch {
      return findings + [
        .problem("database", Self.text(of: error), mend: "correct DATABASE_URL; .env.example has its forms")
      ]
    }
    var databases: [Finding] = []
    for service in ServiceName.bundled { databases += await databaseFinding(service).map { [$0] } ?? [] }
    return findings + databases
  }

  /// The folder, or the one in which it will be created.
  private var existingFolder: URL {
    var existing = URL(filePath: folder)
    while !FileManager.default.fileExists(atPath: existing.path), existing.path != "/" {
      existing.deleteLastPathComponent()
    }
    return existing
  }

  /// Creates and removes a folder, as permissions alone do not tell.
  private func folderFinding() -> Finding {
    let files = FileManager.default
    let trial = existingFolder.appending(path: ".kith-doctor-\(UUID())")
    do {
      try files.createDirectory(at: trial, withIntermediateDirectories: false)
      try files.removeItem(at: trial)
    } catch {
      return .problem(
        "folder", "\(folder) is not writable", mend: "let the user that runs kith own it, or set DATA_DIR")
    }
    return .ok("folder", files.fileExists(atPath: folder) ? "\(folder) is writable" : "\(folder) can be created")
  }

  private func spaceFinding() -> Finding {
    guard let free = freeBytes(existingFolder.path) else { return .ok("disk", "its room is unknown") }
    let megabytes = free / 1_000_000
    let mend = "make room, or set DATA_DIR to a folder on another disk"
    switch megabytes {
    case ..<200: return .problem("disk", "only \(megabytes) MB are free: writes will soon fail", mend: mend)
    case ..<2_000: return .warning("disk", "only \(megabytes) MB are free", mend: mend)
    default: return .ok("disk", "\(megabytes / 1000) GB are free")
    }
  }

  private static func freeBytes(_ folder: String) -> Int? {
    // `try?`: a file system that does not tell its room is not checked.
    (try? FileManager.default.attributesOfFileSystem(forPath: folder))?[.systemFreeSize] as? Int
  }

  private func url(of service: ServiceName) throws -> DatabaseURL {
    try DatabaseURL(settings.string("DATABASE_URL", default: "\(folder)/"), service: service.rawValue)
  }

  /// nil for a SQLite file that is not there yet.
  private func databaseFinding(_ service: ServiceName) async -> Finding? {
    let part = "database"
    var mend = "check DATABASE_URL, and that the server runs and lets this role connect"
    do {
      switch try url(of: service) {
      case .sqlite(let path):
        mend = "let the user that runs kith write it and its folder; if it is damaged, restore a backup"
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        _ = try SQLiteSnapshot(of: [path])
        return .ok(part, "\(path) can be written")
      case .postgres:
        let dependencies = Dependencies(settings, logger: Logger(label: "doctor") { _ in SwiftLogNoOpLogHandler() })
        let version = try await dependencies.postgresVersion(of: service.rawValue)
        return .ok(part, "\(service.rawValue) reaches \(version)")
      }
    } catch { return .problem(part, "\(service.rawValue): \(Self.text(of: error))", mend: mend) }
  }

  private static func text(of error: any Error) -> String {
    let text =
      switch error {
      case DatabaseFailure.unusable(let reason), DatabaseFailure.unavailable(let reason): reason
      default: String(describing: error)
      }
    return text.replacing("\n", with: " ")
  }
}
