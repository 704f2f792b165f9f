import Foundation
import Support
import Testing

@testable import Photos
@testable import kith

/// The links by which a backup keeps the photos of one moment.
@Suite struct PhotoBackupTests {
  private func withPhotos(_ body: (PhotoFolder, [PhotoFileName]) async throws -> Void) async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let folder = try PhotoFolder(testDatabase.folder.appending(path: "photos").path)
      let names = (0..<3).map { _ in PhotoFileName(UUID(), .large) }.sorted()
      for name in names { try await folder.store([1, 2, 3], as: name) }
      try await body(folder, names)
    }
  }

  private func listed(in folder: PhotoFolder) async throws -> [PhotoFileName] {
    var names: [PhotoFileName] = []
    while true {
      let page = try await folder.list(after: names.last)
      guard !page.isEmpty else { return names }
      names += page
    }
  }

  private func paths(of names: [PhotoFileName]) -> [String] { names.map { "\($0.text.prefix(7))/\($0.text)" } }

  /// Such as a volume of its own, beside which a link cannot be.
  @Test func theFolderOfPhotosMayBeTheRootOfAFileSystem() async throws {
    try await withPhotos { folder, names in
      let links = PhotoLinks(to: folder.path)
      try links.make()
      #expect(try links.names() == paths(of: names))
      #expect((links.path as NSString).deletingLastPathComponent == folder.path)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/..") == ["photos"])
      try links.remove()
    }
  }

  @Test func linksAreNoPhotosAndOutliveThem() async throws {
    try await withPhotos { folder, names in
      let links = PhotoLinks(to: folder.path)
      try links.make()
      #expect(try await listed(in: folder) == names)
      try await folder.delete([names[0]])
      #expect(try await listed(in: folder) == Array(names.dropFirst()))
      #expect(try links.names() == paths(of: names), "the backup has it")

      let later = PhotoLinks(to: folder.path)
      try later.make()
      #expect(try later.names() == paths(of: Array(names.dropFirst())), "and not the links of the other backup")
      try links.remove()
      try later.remove()
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).allSatisfy { !$0.hasPrefix(".") })
    }
  }

  @Test func uploadsUnderWayAndFoldersOfTheFileSystemAreLeftOut() async throws {
    try await withPhotos { folder, names in
      for path in ["lost+found", "objects/incoming"] {
        try FileManager.default.createDirectory(
          atPath: "\(folder.path)/\(path)", withIntermediateDirectories: true)
      }
      for path in ["lost+found/#12", "incoming/draft", "objects/incoming/draft", "objects/file"] {
        try Data([1]).write(to: URL(filePath: "\(folder.path)/\(path)"))
      }
      let links = PhotoLinks(to: folder.path)
      try links.make()
      #expect(try links.names() == (paths(of: names) + ["objects/file"]).sorted())
      let none = PhotoLinks(to: "\(folder.path)/nowhere")
      try none.make()
      #expect(try none.names() == [])
    }
  }

  @Test func linksOfABackupThatWasCutOffDoNotKeepPhotosForEver() async throws {
    try await withPhotos { folder, _ in
      let (old, recent) = (PhotoLinks(to: folder.path), PhotoLinks(to: folder.path))
      for links in [old, recent] { try links.make() }
      let now = Date()
      try FileManager.default.setAttributes([.modificationDate: now - 100_000], ofItemAtPath: old.path)
      try recent.removeLeftovers(before: now - 86_400)
      #expect(!FileManager.default.fileExists(atPath: old.path))
      #expect(FileManager.default.fileExists(atPath: recent.path))
      #expect(try await listed(in: folder).count == 3)
    }
  }
}
