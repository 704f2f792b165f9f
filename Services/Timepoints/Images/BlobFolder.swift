import Foundation
import NIOPosix
import Web
import Wire

/// A folder per generation with its scene as JSON and its picture, for `BLOB_STORAGE_ENABLED`.
struct BlobFolder: Sendable {
  private let root: String

  /// nil unless it is enabled.
  init?(_ settings: Settings) throws {
    guard try settings.bool("BLOB_STORAGE_ENABLED", default: false) else { return nil }
    root = settings.string("BLOB_STORAGE_ROOT", default: "./output/timepoints")
    do { try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true) } catch {
      throw StartFailure("the folder BLOB_STORAGE_ROOT, \(root), cannot be made")
    }
  }

  /// The name of a timepoint's folder: the same each time.
  func newFolder(for id: TimepointID, at date: Date) -> String {
    "\(RFC3339.seconds(date).prefix(10))-\(id)"
  }

  func path(of folder: String) -> String { "\(root)/\(folder)" }

  /// Replaces what is there.
  func write(_ scene: GeneratedScene, of id: TimepointID, _ images: SceneImages, to folder: String) async throws {
    let json = try JSON.encode(scene)
    let image = scene.image?.hasImage == true ? try await images.bytes(of: id) : nil
    let path = path(of: folder)
    try await NIOThreadPool.singleton.runIfActive {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      try json.write(to: URL(fileURLWithPath: "\(path)/scene.json"), options: .atomic)
      try image?.write(to: URL(fileURLWithPath: "\(path)/image.jpg"), options: .atomic)
    }
  }

  /// Safe to repeat.
  func delete(_ folder: String) async throws {
    let path = path(of: folder)
    try await NIOThreadPool.singleton.runIfActive {
      guard FileManager.default.fileExists(atPath: path) else { return }
      try FileManager.default.removeItem(atPath: path)
    }
  }
}
