import Foundation
import Support
import Testing

@testable import Photos

/// libvips that is missing, or cannot be loaded.
@Suite struct VipsLibraryTests {
  @Test func aLibraryThatIsThereIsNotLoadedToBeFound() async throws {
    let log = RecordedLog()
    let library = VipsLibrary(fileName: "libvips.so.42")
    #expect(library.isUsable(log.logger) && log.lines.isEmpty)
    #expect(try await PhotoRenderer(library: library).renditions(of: Landscape(of: "A hill")).dimensions.width == 768)
    #expect(library.isUsable(log.logger))
  }

  #if os(Linux)
    @Test func aLibraryThatIsMissingIsSaidToBeBeforeTheFirstPicture() async throws {
      let log = RecordedLog()
      let library = VipsLibrary(fileName: "libmissing.so.1")
      #expect(!library.isUsable(log.logger))
      #expect(!library.isUsable(log.logger))
      // Of one attempt: the next one comes later.
      #expect(log.count(.error) == 1 && log.lines.allSatisfy { $0.contains("libmissing.so.1: cannot open") })
      await #expect(throws: UnusableLibrary.self) {
        _ = try await PhotoRenderer(library: library).renditions(of: Landscape(of: "A hill"))
      }
    }

    @Test func aLibraryThatCannotBeLoadedIsSaidToBeAfterTheFirstPictureAndTriedAgain() async throws {
      let log = RecordedLog()
      let folder = FileManager.default.temporaryDirectory.appending(path: "kith-vips-\(UUID())")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      // `try?`: what is left is in a folder for temporary files.
      defer { try? FileManager.default.removeItem(at: folder) }
      let file = folder.appending(path: "libvips.so.42")
      try Data("no library".utf8).write(to: file)
      let library = VipsLibrary(fileName: file.path, retryInterval: .zero)
      let renderer = PhotoRenderer(library: library)
      #expect(library.isUsable(log.logger), "a file of that name")
      await #expect(throws: UnusableLibrary.self) { _ = try await renderer.renditions(of: Landscape(of: "A hill")) }
      #expect(!library.isUsable(log.logger))
      #expect(log.count(.error) == 1 && log.lines.allSatisfy { $0.contains(file.path) })

      try FileManager.default.removeItem(at: file)
      try FileManager.default.createSymbolicLink(at: file, withDestinationURL: try #require(Self.installed))
      #expect(library.isUsable(log.logger) && log.count(.error) == 1)
      #expect(try await renderer.renditions(of: Landscape(of: "A hill")).dimensions.width == 768)
    }

    private static var installed: URL? {
      ["x86_64", "aarch64"].map { URL(filePath: "/usr/lib/\($0)-linux-gnu/libvips.so.42") }.first {
        FileManager.default.fileExists(atPath: $0.path)
      }
    }
  #endif
}
