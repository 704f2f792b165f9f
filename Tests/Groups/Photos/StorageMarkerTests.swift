import Database
import Foundation
import Logging
import Support
import Testing
import Web
import Wire

@testable import Groups
@testable import Photos

/// A process with the wrong folder, bucket or database deletes nothing.
@Suite struct StorageMarkerTests {
  /// A database with a group in it.
  private struct StorageFixture {
    let database: any Database
    let group: GroupID
    let alice: UserID
    let now: Date

    func sweep(_ files: any PhotoFiles, _ local: PhotoFolder, _ log: Logger = quiet) -> PhotoSweep {
      // All photos are old enough to be reconciled.
      let later = now + 3600
      return PhotoSweep(
        store: PhotoSweepStore(database: database), files: files, local: local, logger: log, now: { later })
    }

    /// Inserts a photo, with its files in `files` unless that is nil.
    func photo(in files: (any PhotoFiles)?, day: String) async throws -> PhotoID {
      let photo = Photo(id: .new(at: now), group: group, sender: alice, sentAt: now)
      if let files {
        for size in PhotoSize.allCases { try await files.store([1, 2, 3], as: PhotoFileName(photo.id, size: size)) }
      }
      try await database.write { db in
        _ = try PhotoStore.insert(photo, PhotoDimensions(width: 1, height: 1, byteCount: 3), on: db)
        try db.change("update photo set day = \(day) where id = \(photo.id)")
      }
      return photo.id
    }

    func seen() async throws -> Int {
      try await database.read { try $0.rows("select id from photo where state = 'ready'").count }
    }
  }

  private func withFixture(
    _ engine: Engine, _ storage: StorageKind, _ body: (StorageFixture, TestStorage, TestDatabase) async throws -> Void
  ) async throws {
    try await withTestDatabase(engine) { testDatabase in
      try await withStorage(storage, in: testDatabase) { stored in
        let fixture = try await fixture(in: testDatabase)
        try await body(fixture, stored, testDatabase)
        await fixture.database.close()
      }
    }
  }

  private func fixture(in testDatabase: TestDatabase, _ name: String = "groups") async throws -> StorageFixture {
    let database = try await testDatabase.open(name, groupsMigrations)
    let (now, alice) = (Date(), UserID.new(at: Date()))
    let group = try await database.write { db in
      try GroupStore.create(
        NewGroup(id: .new(at: now), owner: alice, name: "Ours", description: nil, timeZone: .gmt, createdAt: now),
        on: db)
    }
    return StorageFixture(database: database, group: group.id, alice: alice, now: now)
  }

  @Test(arguments: engines, StorageKind.allCases)
  func anEmptyFolderInTheWrongPlaceEndsNobodysPhotos(engine: Engine, storage: StorageKind) async throws {
    try await withFixture(engine, storage) { fixture, stored, testDatabase in
      let right = fixture.sweep(stored.files, stored.local)
      try await right.reconcile()
      #expect(try await stored.files.marker() != nil)
      _ = try await fixture.photo(in: stored.files, day: "1")
      let log = RecordedLog()
      let other = try PhotoFolder(testDatabase.folder.appendingPathComponent("elsewhere").path)
      let wrong = fixture.sweep(other, other, log.logger)
      for _ in 0..<2 { try await wrong.reconcile() }
      #expect(try await fixture.seen() == 1)
      #expect(log.count(.error) == 2)
      // Also when it contains a photo.
      let astray = try await fixture.photo(in: other, day: "2")
      try await wrong.reconcile()
      #expect(try await fixture.seen() == 2)
      #expect(try await other.marker() == nil)
      // The process with the right storage still ends photos without files.
      try await right.reconcile()
      #expect(try await fixture.seen() == 1)
      #expect(try await other.read(PhotoFileName(astray, .large), nil) != nil)
    }
  }

  @Test(arguments: engines, StorageKind.allCases)
  func aDatabaseThatWasSetUpAnewDeletesNobodysBytes(engine: Engine, storage: StorageKind) async throws {
    try await withFixture(engine, storage) { fixture, stored, testDatabase in
      try await fixture.sweep(stored.files, stored.local).reconcile()
      _ = try await fixture.photo(in: stored.files, day: "1")
      let fresh = try await self.fixture(in: testDatabase, "fresh")
      let log = RecordedLog()
      let wrong = fresh.sweep(stored.files, stored.local, log.logger)
      try await wrong.reconcile()
      #expect(try stored.names.count == 2 && log.count(.error) == 1)
      // Also a database that belongs to another storage.
      let own = try PhotoFolder(testDatabase.folder.appendingPathComponent("elsewhere").path)
      try await fresh.sweep(own, own).reconcile()
      try await wrong.reconcile()
      #expect(try stored.names.count == 2 && log.count(.error) == 2)
      await fresh.database.close()
      #expect(try await fixture.seen() == 1)
    }
  }

  /// With two slashes it would be relative to the working directory, and be created there.
  @Test func aFolderIsNamedFromTheRoot() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let path = testDatabase.folder.appendingPathComponent("kept").path
      for wrong in ["file://kept", "file://", "kept", "/kept"] {
        let settings = Settings(["DATA_DIR": testDatabase.folder.path, "PHOTO_STORAGE": wrong])
        #expect(throws: StartFailure.self, "\(wrong)") { try PhotoStorage(settings, logger: quiet) }
      }
      let right = try PhotoStorage(Settings(["PHOTO_STORAGE": "file://\(path)"]), logger: quiet)
      #expect(right.local.path == path)
    }
  }

  /// As all were before there were marks.
  @Test(arguments: engines, StorageKind.allCases)
  func aStoreWithoutAMarkIsMarkedWhereItFits(engine: Engine, storage: StorageKind) async throws {
    try await withFixture(engine, storage) { fixture, stored, _ in
      let sweep = fixture.sweep(stored.files, stored.local)
      // Orphaned files alone, or a photo without files, could mean that it is another storage.
      let nobodys = PhotoFileName(.new(at: fixture.now), .large)
      try await stored.files.store([1], as: nobodys)
      try await sweep.reconcile()
      #expect(try await stored.files.marker() == nil && stored.names.count == 1)
      _ = try await fixture.photo(in: stored.files, day: "1")
      let lost = try await fixture.photo(in: nil, day: "2")
      try await sweep.reconcile()
      #expect(try await stored.files.marker() == nil && stored.names.count == 3)
      #expect(try await fixture.seen() == 2)
      try await fixture.database.write { try $0.change("delete from photo where id = \(lost)") }
      try await sweep.reconcile()
      #expect(try await stored.files.marker() == fixture.sweep(stored.files, stored.local).store.storageMarker()?.id)
      #expect(try stored.names.count == 2)
    }
  }

  /// A process may die after it has noted the marker, or after it has placed it.
  @Test(arguments: engines, [false, true])
  func aDeathInTheMidstOfMarkingIsMadeGood(engine: Engine, isWritten: Bool) async throws {
    try await withFixture(engine, .folder) { fixture, stored, _ in
      let sweep = fixture.sweep(stored.files, stored.local)
      let marker = StorageMarkerID.new(at: fixture.now)
      try await sweep.store.insert(marker)
      if isWritten { try await stored.files.writeMarker(marker) }
      try await sweep.reconcile()
      let found = try await stored.files.marker()
      #expect(found == marker)
      #expect(try await sweep.store.storageMarker() == StorageMarker(id: marker, isWritten: true))
    }
  }
}
