import Database
import Foundation
import Logging
import Web

/// Whether data can be stored: the folder, the room on its disk, and the databases.
struct StorageCheck {
  let settings: Settings

  private var folder: String { settings.string("DATA_DIR", default: "data") }

  func findings() async -> [Finding] {
    var findings = [folderFinding(), spaceFinding()]
    for service in ServiceName.bundled.map(\.rawValue) {
      guard let finding = await databaseFinding(service) else { continue }
      findings.append(finding)
    }
    return findings
  }

  /// Creates and removes a folder, as permissions alone do not tell.
  private func folderFinding() -> Finding {
    let files = FileManager.default
    var existing = URL(filePath: folder)
    while !files.fileExists(atPath: existing.path), existing.path != "/" { existing.deleteLastPathComponent() }
    let trial = existing.appending(path: ".kith-doctor-\(UUID())")
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
    let existing = FileManager.default.fileExists(atPath: folder) ? folder : "."
    // `try?`: a file system that does not tell its room is not checked.
    let attributes = try? FileManager.default.attributesOfFileSystem(forPath: existing)
    guard let free = attributes?[.systemFreeSize] as? Int else { return .ok("disk", "its room is unknown") }
    let megabytes = free / 1_000_000
    let mend = "make room, or set DATA_DIR to a folder on another disk"
    switch megabytes {
    case ..<200: return .problem("disk", "only \(megabytes) MB are free: writes will soon fail", mend: mend)
    case ..<2_000: return .warning("disk", "only \(megabytes) MB are free", mend: mend)
    default: return .ok("disk", "\(megabytes / 1000) GB are free")
    }
  }

  /// nil for a SQLite file that is not there yet.
  private func databaseFinding(_ service: String) async -> Finding? {
    let part = "database"
    do {
      switch try DatabaseURL(settings.string("DATABASE_URL", default: "\(folder)/"), service: service) {
      case .sqlite(let path):
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        _ = try SQLiteSnapshot(of: [path])
        return .ok(part, "\(path) can be written")
      case .postgres:
        let dependencies = Dependencies(settings, logger: Logger(label: "doctor") { _ in SwiftLogNoOpLogHandler() })
        let version = try await dependencies.postgresVersion(of: service)
        return .ok(part, "\(service) reaches \(version)")
      }
    } catch {
      return .problem(
        part, "\(service): \(String(describing: error).replacing("\n", with: " "))",
        mend: "check DATABASE_URL, and that the server runs and lets this role connect")
    }
  }
}
