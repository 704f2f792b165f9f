import Foundation

/// Hard links to the photos of one moment. They are in a hidden folder among the photos: a link cannot lead to another
/// file system, and the folder of photos may be the root of one.
struct PhotoLinks {
  /// The folder of the links.
  let path: String
  private let photos: String
  private let files = FileManager.default
  private static let prefix = ".backup-"

  /// - Parameter photos: the folder of photos, which need not exist.
  init(to photos: String) {
    self.photos = photos
    path = "\(photos)/\(Self.prefix)\(UUID().uuidString)"
  }

  /// Links take no space and next to no time, so writers hardly wait. Photos do not change once they are written.
  func make() throws {
    for name in try Self.names(in: photos) {
      let copy = "\(path)/\(name)"
      try files.createDirectory(
        atPath: (copy as NSString).deletingLastPathComponent, withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
      // A photo that has been deleted meanwhile is gone.
      guard link("\(photos)/\(name)", copy) == 0 || errno == ENOENT else {
        throw BackupFailure("\(photos)/\(name): \(String(cString: strerror(errno)))")
      }
    }
  }

  /// The paths of the links, relative to their folder.
  func names() throws -> [String] { try Self.names(in: path) }

  func remove() throws { try files.removeItem(atPath: path) }

  /// Removes the links of backups that were cut off, which would keep photos that are deleted later.
  ///
  /// - Parameter time: before which they began. Other backups may be under way.
  func removeLeftovers(before time: Date) throws {
    for name in try Self.entries(of: photos) where name.hasPrefix(Self.prefix) {
      // `try?`: that backup has ended.
      let attributes = try? files.attributesOfItem(atPath: "\(photos)/\(name)")
      guard let began = attributes?[.modificationDate] as? Date, began < time else { continue }
      try files.removeItem(atPath: "\(photos)/\(name)")
    }
  }

  /// Whether an entry of the folder of photos is not part of it: links of backups, and what file systems put there.
  static func isForeign(_ name: String) -> Bool { name.hasPrefix(prefix) || name == "lost+found" }

  /// The paths of the files in a folder and below, relative to it and sorted. Not those of uploads under way, which have
  /// no row yet.
  private static func names(in folder: String) throws -> [String] {
    var (names, folders) = ([String](), [""])
    while let parent = folders.popLast() {
      for entry in try entries(of: "\(folder)/\(parent)") where !isForeign(entry) && entry != "incoming" {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: "\(folder)/\(parent)\(entry)", isDirectory: &isFolder) else {
          continue
        }
        if isFolder.boolValue { folders.append("\(parent)\(entry)/") } else { names.append("\(parent)\(entry)") }
      }
    }
    return names.sorted()
  }

  /// None for a folder that is not there, or no longer: empty ones are removed.
  private static func entries(of folder: String) throws -> [String] {
    do { return try FileManager.default.contentsOfDirectory(atPath: folder) } catch {
      guard FileManager.default.fileExists(atPath: folder) else { return [] }
      throw error
    }
  }
}
