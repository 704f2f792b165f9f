import Database
import Foundation
import Web
import Wire

/// Copies everything that `kith` stores into one file while it runs: the databases and photos of one moment, with a
/// checksum of each file.
struct Backup {
  private let stored: StoredData
  private let databases: [String: String]
  private let files = FileManager.default

  /// - Throws: ``BackupFailure`` when nothing is stored in SQLite.
  init(_ settings: Settings) throws {
    stored = try StoredData(settings)
    databases = stored.databases.filter { FileManager.default.fileExists(atPath: $0.value) }
    guard !databases.isEmpty else {
      throw BackupFailure("there is no data yet: \(stored.databases.values.sorted().joined(separator: ", "))")
    }
  }

  /// - Parameter path: of a tar archive, which must not exist. It appears when it is complete.
  /// - Throws: ``BackupFailure`` or ``DatabaseFailure/unusable``; then nothing remains of it.
  func write(to path: String, at now: Date) throws -> BackupManifest {
    guard !files.fileExists(atPath: path) else { throw BackupFailure("\(path) exists") }
    // Beside the archive, as the space is needed there anyway.
    let folder = "\(path).\(UUID().uuidString)"
    let links = stored.photos.map { "\($0).\(UUID().uuidString)" }
    // `try?`: what is left over does no harm.
    defer { for leftover in [folder, links].compactMap(\.self) { try? files.removeItem(atPath: leftover) } }
    try files.createDirectory(
      atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])

    let snapshot = try SQLiteSnapshot(of: Array(databases.values)) {
      // A photo is deleted after its row, so those of all rows are there.
      if let photos = stored.photos, let links { try linkFiles(of: photos, in: links) }
    }
    let archive = "\(folder)/archive"
    let manifest = try write(snapshot, photos: links, to: archive, in: folder, at: now)
    guard rename(archive, path) == 0 else { throw BackupFailure("\(path): \(String(cString: strerror(errno)))") }
    return manifest
  }

  private func write(
    _ snapshot: SQLiteSnapshot, photos: String?, to archive: String, in folder: String, at now: Date
  ) throws -> BackupManifest {
    let tar = try TarWriter(path: archive, at: now)
    var written: [BackupManifest.File] = []
    var names: [String: String] = [:]
    // Several services may share a file.
    for (service, path) in databases.sorted(by: { $0.key < $1.key }) {
      let name = "databases/\((path as NSString).lastPathComponent)"
      names[service] = name
      guard !written.contains(where: { $0.name == name }) else { continue }
      let copy = "\(folder)/database"
      try snapshot.copy(path, to: copy)
      written.append(try tar.add(name, contentsOf: copy))
      try files.removeItem(atPath: copy)
    }
    if files.fileExists(atPath: stored.secrets) {
      written.append(try tar.add("secrets.env", contentsOf: stored.secrets))
    }
    if let photos {
      for name in try files.subpathsOfFiles(in: photos) {
        written.append(try tar.add("photos/\(name)", contentsOf: "\(photos)/\(name)"))
      }
    }
    let manifest = BackupManifest(version: Kith.version, createdAt: now, databases: names, files: written)
    _ = try tar.add(BackupManifest.name, try JSON.encodeExact(manifest))
    try tar.finish()
    return manifest
  }

  /// Links take no space and next to no time, so writers hardly wait. Photos do not change once they are written.
  private func linkFiles(of folder: String, in links: String) throws {
    for name in try files.subpathsOfFiles(in: folder) {
      let path = "\(links)/\(name)"
      try files.createDirectory(
        atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
      // An upload that has ended meanwhile is gone.
      guard link("\(folder)/\(name)", path) == 0 || errno == ENOENT else {
        throw BackupFailure("\(folder)/\(name): \(String(cString: strerror(errno)))")
      }
    }
  }
}

extension FileManager {
  /// The paths of the regular files in a folder and below, relative to it and sorted; none when there is no folder.
  fileprivate func subpathsOfFiles(in folder: String) throws -> [String] {
    guard fileExists(atPath: folder) else { return [] }
    return try subpathsOfDirectory(atPath: folder).sorted().filter { name in
      var isFolder: ObjCBool = false
      return fileExists(atPath: "\(folder)/\(name)", isDirectory: &isFolder) && !isFolder.boolValue
    }
  }
}
