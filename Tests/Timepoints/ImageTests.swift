import Database
import Foundation
import Support
import Testing
import Wire

/// Pictures are files with an address, and bytes in JSON only for those who ask for that.
@Suite struct ImageTests {
  @Test(arguments: engines) func aPictureHasAnAddress(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let made = try await alice.generate("Apollo 11", ["generate_image": true])
      #expect(made.bool("has_image") == true && made["image_base64"] == nil, "\(made.text)")
      let path = "/api/v1/timepoints/\(made.string("id"))"
      #expect(made.string("image_url").hasSuffix("\(path)/image"))
      let image = try await stack.gateway.get("\(path)/image")
      #expect(image.status == 200 && image.headers.first(name: "content-type") == "image/jpeg")
      #expect(image.body.starts(with: [0xFF, 0xD8, 0xFF]))
      #expect(image.headers.first(name: "cache-control") == "public, max-age=31536000, immutable")
      let tag = try #require(image.headers.first(name: "etag"))
      #expect(try await stack.gateway.with(["If-None-Match": tag]).get("\(path)/image").status == 304)
      let part = try await stack.gateway.with(["Range": "bytes=0-9"]).get("\(path)/image")
      #expect(part.status == 206 && part.body == image.body.prefix(10))
      #expect(try await stack.gateway.get("\(path)/image?size=320").body.count < image.body.count)
      let whole = try await stack.gateway.get("\(path)?include_image=true").string("image_base64")
      #expect(Data(base64Encoded: whole) == image.body)
      _ = try await alice.browser.send(.PATCH, "\(path)/visibility", json: ["visibility": "private"])
      #expect(try await stack.gateway.get("\(path)/image").status == 403)
      let own = try await alice.browser.get("\(path)/image")
      #expect(own.status == 200 && own.headers.first(name: "cache-control") == "private, no-cache")
      let bare = try await alice.generate("Apollo 12")
      #expect(try await stack.gateway.get("/api/v1/timepoints/\(bare.string("id"))/image").status == 404)
    }
  }

  /// A provider's bytes that are no picture: the scene is complete without it, and no picture is asked for again.
  @Test(arguments: engines) func aPictureThatCannotBeReadLeavesTheScene(_ engine: Engine) async throws {
    try await withGemini { gemini in
      try await withStack(engine, gemini.settings) { stack in
        let alice = try await stack.signIn("alice")
        gemini.calls.next(.paints(tinyJPEG), for: "image")
        var stream = try await TimepointStream(
          alice.browser, "/api/v1/timepoints/generate/stream",
          body: ["query": "The gate of Miletus", "generate_image": true])
        let events = try await stream.all()
        #expect(events.suffix(2).map(\.name) == ["step_error", "done"])
        let done = try #require(events.last).data
        #expect(done["has_image"] as? Bool == false && done["status"] as? String == "completed")
        #expect(gemini.calls.count("image") == 1)
        #expect(try await alice.spent("generation").map(\.amount) == [-5])
        gemini.calls.next(.paints(SamplePhotos.jpeg), for: "image")
        #expect(try await alice.generate("The gate", ["generate_image": true]).bool("has_image") == true, "the premise")
      }
    }
  }

  /// Its folder is written and could not be recorded, when the owner deletes the timepoint.
  @Test(arguments: engines) func aFolderGoesWithItsTimepointAlsoBeforeThatIsCompleted(_ engine: Engine) async throws {
    let root = FileManager.default.temporaryDirectory.appending(path: "blobs-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: root) }
    let failures = Failures(count: 1_000_000)
    try await withStack(
      engine, ["BLOB_STORAGE_ENABLED": "true", "BLOB_STORAGE_ROOT": root],
      wrapDatabase: { CompletionFailingDatabase(inner: $0, failures: failures) }
    ) { stack in
      let alice = try await stack.signIn("alice")
      let begun = try await alice.browser.post(
        "/api/v1/timepoints/generate", ["query": "Apollo 11", "write_blob": true])
      func folders() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: root) }
      try await eventually("the folder") { try !folders().isEmpty }
      _ = try await alice.browser.delete("/api/v1/timepoints/\(begun.string("id"))?permanent=true")
      try await eventually("no folder") { try folders().isEmpty }
    }
  }

  @Test(arguments: engines) func withBlobStorageThereIsAFolderForEachGeneration(_ engine: Engine) async throws {
    let root = FileManager.default.temporaryDirectory.appending(path: "blobs-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: root) }
    try await withStack(engine, ["BLOB_STORAGE_ENABLED": "true", "BLOB_STORAGE_ROOT": root]) { stack in
      let alice = try await stack.signIn("alice")
      let made = try await alice.generate("Apollo 11", ["generate_image": true, "write_blob": true])
      let folder = made.string("blob_path")
      #expect(folder.hasPrefix(root) && made.string("blob_folder_name").hasSuffix(made.string("id")))
      #expect(Set(try FileManager.default.contentsOfDirectory(atPath: folder)) == ["scene.json", "image.jpg"])
      let path = "/api/v1/timepoints/\(made.string("id"))"
      #expect(try await stack.gateway.get(path)["blob_path"] is NSNull)
      _ = try await alice.browser.delete("\(path)?permanent=true")
      #expect(!FileManager.default.fileExists(atPath: folder))
      let later = try await alice.generate("Apollo 12")
      #expect(later["blob_path"] is NSNull)
      let exported = try await alice.browser.post("/api/v1/timepoints/\(later.string("id"))/export")
      #expect(FileManager.default.fileExists(atPath: "\(exported.string("blob_path"))/scene.json"))
    }
  }
}
