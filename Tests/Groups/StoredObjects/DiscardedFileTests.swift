import Database
import Foundation
import Support
import Testing
import Wire

@testable import Groups
@testable import Photos

/// Files that no object names: what a crash leaves, and what could not be deleted at first.
@Suite struct DiscardedFileTests {
  @Test(arguments: engines, StorageKind.allCases)
  func whatACrashLeavesIsDeletedAndWhatIsNamedStays(engine: Engine, storage: StorageKind) async throws {
    try await withTestDatabase(engine) { testDatabase in
      try await withStorage(storage, in: testDatabase) { stored in
        let database = try await testDatabase.open("groups", groupsMigrations)
        let (now, alice) = (Date(), UserID.new(at: Date()))
        let (store, discarded) = (StoredObjectStore(database: database), DiscardedFileStore(database: database))
        func sweep(_ seconds: TimeInterval) async throws {
          try await DiscardedFileSweep(
            store: discarded, files: stored.files, local: stored.local, logger: quiet, now: { now + seconds }
          ).deleteDue()
        }
        func file() async throws -> StoredFileID {
          let file = StoredFileID.new(at: now)
          try await discarded.addPending(file, at: now)
          for kind in [PhotoFileName.Kind.large, .small] {
            try await stored.files.store([1, 2, 3], as: PhotoFileName(file.uuid, kind))
          }
          return file
        }
        func put(_ file: StoredFileID, at time: Date) async throws {
          let name = try #require(StoredObjectName("photos/\(alice)/1.jpg"))
          let new = NewStoredObject(name: name, file: file, byteCount: 3, bytesInAll: 6, cacheSeconds: 0)
          _ = try await store.put(new, replaces: true, at: time)
        }
        let (kept, left, late) = (try await file(), try await file(), try await file())
        try await put(kept, at: now)
        // It may be deleted at any moment, so it is not named.
        await #expect(throws: Failure.unavailable) { try await put(late, at: now + 599) }
        try await sweep(599)
        #expect(try stored.names.count == 6)
        if let bucket = stored.store {
          bucket.refused = [PhotoFileName(left.uuid, .large).text]
          try await sweep(601)
          #expect(try stored.names.contains(PhotoFileName(left.uuid, .large).text))
          #expect(try stored.names.contains(PhotoFileName(late.uuid, .large).text) == false)
          bucket.refused = []
        }
        try await sweep(700)
        #expect(try stored.names == Set([.large, .small].map { PhotoFileName(kept.uuid, $0).text }))
        // The file that another one replaces.
        let next = try await file()
        try await put(next, at: now)
        try await sweep(0)
        #expect(try stored.names == Set([.large, .small].map { PhotoFileName(next.uuid, $0).text }))
        await database.close()
      }
    }
  }

  @Test func whatIsNoNameIsNoFile() throws {
    let alice = UserID.new(at: Date())
    for text in ["photos/\(alice)/a.jpg", "avatars/\(alice)/A/b_c/d-e.f"] {
      #expect(StoredObjectName(text)?.description == text)
    }
    let tooLong = String(repeating: "a", count: 101)
    for text in [
      "photos/\(alice)", "photos/\(alice)/", "photos//a", "photos/bob/a", "others/\(alice)/a", "photos/\(alice)/..",
      "photos/\(alice)/a/../b", "photos/\(alice)/a/b/c/d", "photos/\(alice)/a b", "photos/\(alice)/ü", "",
      "photos/\(alice)/\(tooLong)", "photos/\(alice)/a%2F", "photos/\(alice)//a",
    ] { #expect(StoredObjectName(text) == nil, "\(text)") }
    for url in [
      "https://api.example.com/storage/v1/object/public/avatars/\(alice)/a.jpg",
      "/storage/v1/object/sign/avatars/\(alice)/a.jpg?token=1.2.3", "/storage/v1/object/avatars/\(alice)/a.jpg#x",
    ] { #expect(StoredObjectName(url: url)?.description == "avatars/\(alice)/a.jpg", "\(url)") }
    #expect(StoredObjectName(url: "https://example.com/a.jpg") == nil)
  }
}
