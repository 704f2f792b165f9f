import Database
import Foundation
import NIOHTTP1
import Support
import Testing
import Wire

@testable import Groups
@testable import Photos

/// Files of `/storage/v1`, through the gateway.
@Suite struct StoredObjectTests {
  @Test(arguments: engines) func whatIsStoredIsReadCleanedAndInParts(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let name = "photos/\(alice.id.description.uppercased())/hunt/1.jpg"
      let stored = try await alice.store(SamplePhotos.jpegWithLocation, as: name)
      #expect(stored.status == 200, "\(stored.text)")
      #expect(stored.string("Key") == "photos/\(alice.id)/hunt/1.jpg")
      #expect(stored.string("path") == "\(alice.id)/hunt/1.jpg" && stored.string("fullPath") == stored.string("Key"))
      let path = "/storage/v1/object/\(name)"
      let read = try await alice.browser.get(path)
      #expect(read.status == 200 && read.body.starts(with: [0xFF, 0xD8, 0xFF]))
      #expect(read.headers.first(name: "content-type") == "image/jpeg")
      #expect(read.headers.first(name: "cache-control") == "private, max-age=60")
      for secret in SamplePhotos.secrets { #expect(read.body.range(of: secret) == nil) }
      let eTag = try #require(read.headers.first(name: "etag"))
      #expect(try await alice.browser.with(["If-None-Match": eTag]).get(path).status == 304)
      let part = try await alice.browser.with(["Range": "bytes=2-9"]).get(path)
      #expect(part.status == 206 && part.body == read.body[2..<10])
      #expect(try await alice.browser.with(["Range": "bytes=9999999-"]).get(path).status == 416)
      let head = try await alice.browser.send(.HEAD, path)
      #expect(head.status == 200 && head.body.isEmpty && head.headers.first(name: "etag") == eTag)
      let saved = try await alice.browser.get(path + "?size=320&download=mine.jpg")
      #expect(saved.status == 200 && saved.headers.first(name: "etag") != eTag)
      #expect(saved.headers.first(name: "content-disposition") == "attachment; filename=\"mine.jpg\"")
      let info = try await alice.browser.get("/storage/v1/object/info/\(name)")
      #expect(info.string("name") == "\(alice.id)/hunt/1.jpg" && info.int("size") == read.body.count)
      // Two days later it is still there.
      stack.clock.advance(by: .seconds(49 * 3600))
      let later = try await stack.signIn("alice")
      #expect(try await later.browser.get(path).status == 200)
    }
  }

  @Test(arguments: engines) func aNameIsTakenOnceAndReplacedWhenAsked(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let name = "avatars/\(alice.id)/me.jpg"
      let outcomes = try await atOnce(12) { _ in try await alice.store(SamplePhotos.jpeg, as: name).status }
      #expect(outcomes.filter { $0 == 200 }.count == 1 && outcomes.filter { $0 == 409 }.count == 11, "\(outcomes)")
      #expect(try await alice.store(SamplePhotos.jpeg, as: name).storageError == "409 Duplicate")
      let first = try await stack.gateway.get("/storage/v1/object/public/\(name)")
      #expect(first.status == 200 && first.headers.first(name: "cache-control") == "public, max-age=60")
      #expect(try await alice.store(SamplePhotos.turnedJPEG, as: name, headers: ["x-upsert": "true"]).status == 200)
      let replaced = try await alice.browser.with(["Content-Type": "image/jpeg"])
        .send(.PUT, "/storage/v1/object/\(name)", body: SamplePhotos.turnedJPEG)
      #expect(replaced.status == 200, "\(replaced.text)")
      let second = try await stack.gateway.get("/storage/v1/object/public/\(name)")
      #expect(second.body != first.body)
      #expect(second.headers.first(name: "cache-control") == "public, max-age=3600")
      // Only the files of the last one are left in the storage.
      try await eventually("the end of the others") { stack.photoFiles.count == 2 }
      #expect(try await stack.count("stored_object where size_bytes > 0", in: "groups") == 1)
      #expect(try await stack.count("stored_object_use where object_count = 1", in: "groups") == 1)
      #expect(try await alice.remove(["\(alice.id)/me.jpg"], in: "avatars").list.count == 1)
      #expect(try await stack.gateway.get("/storage/v1/object/public/\(name)").storageError == "404 not_found")
      try await eventually("the end of the bytes") { stack.photoFiles.isEmpty }
      #expect(try await stack.count("stored_object_use where object_count = 0 and size_bytes = 0", in: "groups") == 1)
    }
  }

  @Test(arguments: engines) func whoIsNotItsOwnerNeitherReadsNorChangesIt(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let name = "photos/\(alice.id)/1.jpg"
      #expect(try await alice.store(SamplePhotos.jpeg, as: name, part: "file").status == 200)
      let path = "/storage/v1/object/\(name)"
      // Bob may store under his own id, and nowhere else.
      #expect(try await bob.store(SamplePhotos.jpeg, as: "photos/\(bob.id)/1.jpg").status == 200)
      for stolen in ["photos/\(alice.id)/2.jpg", name, "photos/everybody/2.jpg"] {
        let stored = try await bob.store(SamplePhotos.jpeg, as: stolen, headers: ["x-upsert": "true"])
        #expect(stored.status == 403 && stored.storageError == "403 Unauthorized", "\(stored.text)")
      }
      for hidden in [path, "/storage/v1/object/info/\(name)", "/storage/v1/object/public/\(name)"] {
        let read = try await bob.browser.get(hidden)
        #expect(read.status == 404 && read.storageError == "404 not_found", "\(read.text)")
      }
      #expect(try await stack.gateway.get(path).storageError == "401 unauthorized")
      #expect(try await bob.link(to: name).storageError == "404 not_found")
      let many = try await bob.browser.post(
        "/storage/v1/object/sign/photos", ["expiresIn": 60, "paths": ["\(alice.id)/1.jpg", "\(bob.id)/1.jpg"]])
      #expect(many.list.map { $0["signedURL"] is String } == [false, true])
      #expect(many.list.map { $0["error"] is String } == [true, false])
      #expect(try await bob.remove(["\(alice.id)/1.jpg", "../\(alice.id)/1.jpg"]).list.isEmpty)
      #expect(try await bob.list("\(alice.id)").isEmpty)
      #expect(try await alice.browser.get(path).status == 200)
    }
  }

  @Test(arguments: engines) func aLinkOpensOneFileUntilItEnds(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      for number in 1...2 {
        #expect(try await alice.store(SamplePhotos.jpeg, as: "photos/\(alice.id)/\(number).jpg").status == 200)
      }
      // As the client for Python sends it.
      let signed = try await alice.link(to: "photos/\(alice.id)/1.jpg", seconds: "60")
      let path = "/storage/v1" + signed.string("signedURL")
      let read = try await stack.gateway.get(path)
      #expect(read.status == 200 && read.body.starts(with: [0xFF, 0xD8, 0xFF]))
      let wrong = [
        path.replacing("/1.jpg", with: "/2.jpg"), path + "A", path.replacing("token=", with: "token=9"),
        "/storage/v1/object/sign/photos/\(alice.id)/1.jpg",
      ]
      for wrong in wrong {
        #expect(try await stack.gateway.get(wrong).storageError == "400 InvalidJWT", "\(wrong)")
      }
      for seconds in [0, -1, 40_000_000] as [any Sendable] {
        #expect(try await alice.link(to: "photos/\(alice.id)/1.jpg", seconds: seconds).status == 400)
      }
      stack.clock.advance(by: .seconds(61))
      #expect(try await stack.gateway.get(path).storageError == "400 InvalidJWT")
    }
  }

  @Test(arguments: engines) func whatIsNotAPhotoOrHasNoNameIsRefused(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      func stored(_ data: Data, _ name: String) async throws -> Browser.Reply {
        try await alice.store(data, as: name)
      }
      let own = "photos/\(alice.id)"
      #expect(try await stored(Data("%PDF".utf8), "\(own)/1.jpg").status == 415)
      #expect(try await stored(SamplePhotos.jpeg.prefix(300), "\(own)/1.jpg").status == 422)
      #expect(try await stored(Data(), "\(own)/1.jpg").status == 400)
      #expect(try await stored(Data(count: UploadedFile.bytesMax + 1), "\(own)/1.jpg").status == 413)
      for name in ["\(own)/a%40b.jpg", "\(own)/a%20b.jpg", "\(own)/\(String(repeating: "a", count: 101))"] {
        #expect(try await stored(SamplePhotos.jpeg, name).storageError == "400 InvalidKey", "\(name)")
      }
      #expect(try await stored(SamplePhotos.jpeg, "others/\(alice.id)/1.jpg").storageError == "404 not_found")
      // Neither the gateway nor the service has deeper names, nor routes for buckets.
      #expect(try await stored(SamplePhotos.jpeg, "\(own)/a/b/c/d.jpg").storageError == "404 not_found")
      #expect(try await alice.browser.get("/storage/v1/bucket").storageError == "404 not_found")
      for body in [["limit": 0], ["offset": -1], ["limit": 1001]] as [[String: any Sendable]] {
        #expect(try await alice.browser.post("/storage/v1/object/list/photos", body).status == 400)
      }
      #expect(try await stack.count("stored_object", in: "groups") == 0)
      #expect(stack.photoFiles.isEmpty)
    }
  }

  @Test(arguments: engines) func thereIsAnEndToWhatOneUserStores(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      #expect(try await alice.store(SamplePhotos.jpeg, as: "photos/\(alice.id)/1.jpg").status == 200)
      let database = try await stack.testDatabase.open("groups", [])
      let counted: [SQL] = ["object_count = 1000", "object_count = 1, size_bytes = 536870912"]
      for full in counted {
        try await database.write { try $0.change("update stored_object_use set \(full)") }
        let refused = try await alice.store(SamplePhotos.jpeg, as: "photos/\(alice.id)/2.jpg")
        #expect(refused.storageError == "403 quota_exceeded", "\(refused.text)")
      }
      await database.close()
      #expect(try await stack.count("stored_object", in: "groups") == 1)
      // What is deleted makes room.
      #expect(try await alice.remove(["\(alice.id)/1.jpg"]).list.count == 1)
      #expect(try await alice.store(SamplePhotos.jpeg, as: "photos/\(alice.id)/2.jpg").status == 200)
    }
  }

  @Test(arguments: engines) func foldersAreListed(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      for name in ["1.jpg", "2.jpg", "hunt/1.jpg", "hunt/deep/1.jpg"] {
        #expect(try await alice.store(SamplePhotos.jpeg, as: "photos/\(alice.id)/\(name)").status == 200)
      }
      func names(_ body: [String: any Sendable]) async throws -> [String] {
        try await alice.browser.post("/storage/v1/object/list/photos", body).list.compactMap { $0["name"] as? String }
      }
      #expect(try await names([:]) == ["\(alice.id)"])
      #expect(try await names(["prefix": "\(alice.id)"]) == ["1.jpg", "2.jpg", "hunt"])
      #expect(try await names(["prefix": "\(alice.id.description.uppercased())/hunt/"]) == ["1.jpg", "deep"])
      #expect(try await names(["prefix": "\(alice.id)", "limit": 1, "offset": 1]) == ["2.jpg"])
      let order = ["column": "name", "order": "desc"]
      #expect(try await names(["prefix": "\(alice.id)", "sortBy": order]) == ["hunt", "2.jpg", "1.jpg"])
      #expect(try await names(["prefix": "\(alice.id)", "search": "2"]) == ["2.jpg"])
      let entries = try await alice.list("\(alice.id)")
      #expect(entries[0]["id"] is String && entries[2]["id"] is NSNull)
      #expect(try await alice.list("\(alice.id)", in: "avatars").isEmpty)
    }
  }
}
