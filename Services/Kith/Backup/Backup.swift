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
  /// Seconds after which another backup is not under way any more.
  private static let longest: TimeInterval = 86_400

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
    let links = stored.photos.map { PhotoLinks(to: $0) }
    // `try?`: what is left over does no harm, and the next backup removes links.
    defer {
      try? files.removeItem(atPath: folder)
      try? links?.remove()
    }
    try files.createDirectory(
      atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])

    try links?.removeLeftovers(before: now - Self.longest)
    // A photo is deleted after its row, so those of all rows are there.
    let snapshot = try SQLiteSnapshot(of: Array(databases.values)) { try links?.make() }
    let archive = "\(folder)/archive"
    let manifest = try write(snapshot, photos: links, to: archive, in: folder, at: now)
    guard rename(archive, path) == 0 else { throw BackupFailure("\(path): \(String(cString: strerror(errno)))") }
    return manifest
  }

  private func write(
    _ snapshot: SQLiteSnapshot, photos: PhotoLinks?, to archive: String, in folder: String, at now: Date
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
      for name in try photos.names() {
        written.append(try tar.add("photos/\(name)", contentsOf: "\(photos.path)/\(name)"))
      }
    }
    let manifest = BackupManifest(version: Kith.version, createdAt: now, databases: names, files: written)
    _ = try tar.add(BackupManifest.name, try JSON.encodeExact(manifest))
    try tar.finish()
    return manifest
  }
}
