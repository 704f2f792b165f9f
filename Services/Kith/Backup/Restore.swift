import Database
import Events
import Foundation
import Web
import Wire

/// Restores a backup where nothing is stored yet.
struct Restore {
  private let settings: Settings
  private let stored: StoredData
  private let files = FileManager.default

  init(_ settings: Settings) throws {
    self.settings = settings
    stored = try StoredData(settings)
  }

  /// Checks the whole backup before it puts the first file in place.
  ///
  /// - Throws: ``BackupFailure`` when data is there already, or when the backup is incomplete or damaged;
  ///   ``DatabaseFailure/unusable``.
  func read(from path: String) throws -> BackupManifest {
    try requireNothingStored()
    let folder = settings.string("DATA_DIR", default: "data") + "/.restore-\(UUID().uuidString)"
    try files.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    // `try?`: what is left over does no harm.
    defer { try? files.removeItem(atPath: folder) }
    let manifest = try extract(path, to: folder)
    if let events = manifest.databases[ServiceName.events.rawValue],
      manifest.files.contains(where: { $0.name == events })
    {
      try SQLiteFile.change("\(folder)/\(events)", ifThereIs: RestoredLog.table, by: RestoredLog.statement)
    }
    for (name, destination) in try destinations(manifest) {
      let parent = (destination as NSString).deletingLastPathComponent
      if !parent.isEmpty { try files.createDirectory(atPath: parent, withIntermediateDirectories: true) }
      try files.moveItem(atPath: "\(folder)/\(name)", toPath: destination)
    }
    // What the directories say is on the disk, too.
    sync()
    return manifest
  }

  private func requireNothingStored() throws {
    var paths = Set(stored.databases.values)
    paths.insert(stored.secrets)
    for path in paths.sorted() where files.fileExists(atPath: path) {
      throw BackupFailure("\(path) exists: a backup is restored where there is no data")
    }
    // `try?`: a folder that is not there is empty.
    if let photos = stored.photos, let names = try? files.contentsOfDirectory(atPath: photos),
      !names.allSatisfy(PhotoLinks.isForeign)
    {
      throw BackupFailure("\(photos) is not empty: a backup is restored where there is no data")
    }
  }

  private func extract(_ path: String, to folder: String) throws -> BackupManifest {
    let tar = try TarReader(path: path)
    var found: [BackupManifest.File] = []
    while let header = try tar.next() {
      if header.name == BackupManifest.name {
        var text = Data()
        _ = try tar.contents(of: header) { text += $0 }
        return try manifest(text, of: found, in: path)
      }
      found.append(try extract(header, of: tar, to: folder))
    }
    throw BackupFailure("\(path) is incomplete, or not a backup")
  }

  private func extract(_ header: TarHeader, of tar: borrowing TarReader, to folder: String) throws
    -> BackupManifest.File
  {
    let parts = header.name.split(separator: "/", omittingEmptySubsequences: false)
    let isKnown = ["databases", "photos"].contains(parts[0]) && parts.count > 1 || header.name == "secrets.env"
    guard isKnown, parts.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." }) else {
      throw BackupFailure("it has an unknown file: \(header.name)")
    }
    let path = "\(folder)/\(header.name)"
    try files.createDirectory(
      atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    let descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw BackupFailure("\(path): \(String(cString: strerror(errno)))") }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    let found = try tar.contents(of: header) { try file.write(contentsOf: $0) }
    try file.synchronize()
    return found
  }

  private func manifest(_ text: Data, of found: [BackupManifest.File], in path: String) throws -> BackupManifest {
    // `try?`: a manifest that cannot be read is one that another program has written.
    guard let manifest = try? JSON.decode(BackupManifest.self, from: text) else {
      throw BackupFailure("\(path) is not a backup of kith")
    }
    guard manifest.format == BackupManifest.currentFormat else {
      throw BackupFailure("\(path) was made by version \(manifest.version): use that version or a newer one")
    }
    guard manifest.files == found else { throw BackupFailure("\(path) is damaged: a checksum differs") }
    return manifest
  }

  /// Where each file of the backup belongs.
  private func destinations(_ manifest: BackupManifest) throws -> [(name: String, path: String)] {
    var paths: [String: String] = [:]
    for (service, name) in manifest.databases {
      guard let path = stored.databases[service] else { throw BackupFailure("there is no service \(service) here") }
      guard paths[name] == nil || paths[name] == path, !paths.contains(where: { $0.key != name && $0.value == path })
      else { throw BackupFailure("DATABASE_URL must be a folder or a file, as it was when the backup was made") }
      paths[name] = path
    }
    return try manifest.files.map { file in
      if let path = paths[file.name] { return (file.name, path) }
      if file.name == "secrets.env" { return (file.name, stored.secrets) }
      guard let photos = stored.photos, file.name.hasPrefix("photos/") else {
        throw BackupFailure("PHOTO_STORAGE must be a folder, as it was when the backup was made")
      }
      return (file.name, "\(photos)/\(file.name.dropFirst("photos/".count))")
    }
  }
}
