import Database
import Foundation
import Support
import Synchronization
import Testing
import Wire

@testable import Groups
@testable import Photos

/// What the sweep deletes, also when a part of it fails.
@Suite struct PhotoSweepTests {
  /// A group of alice's, and a sweep of its photos.
  private struct SweepFixture {
    let database: any Database
    let stored: TestStorage
    let clock: TestClock
    let alice: UserID
    let group: GroupID
    let sweep: PhotoSweep

    /// Inserts a photo that was sent `ago` seconds ago, with its files.
    func photo(_ ago: TimeInterval, kinds: [PhotoFileName.Kind] = [.large, .small]) async throws -> PhotoID {
      let time = clock.now - ago
      let photo = Photo(id: .new(at: time), group: group, sender: alice, sentAt: time)
      for kind in kinds { try await stored.files.store([1, 2, 3], as: PhotoFileName(photo.id, kind)) }
      try await database.write { db in
        _ = try PhotoStore.insert(photo, PhotoDimensions(width: 1, height: 1, byteCount: 3), on: db)
      }
      return photo.id
    }

    func rows() async throws -> Set<PhotoID> {
      try await database.read { db in Set(try db.rows("select id from photo").map { try $0.get("id") }) }
    }

    func isVisible(_ photo: PhotoID) async throws -> Bool {
      let store = PhotoStore(database: database, photoAccess: PhotoAccessCache())
      do { return try await store.photo(photo, for: alice, at: clock.now).id == photo } catch is Failure {
        return false
      }
    }
  }

  private func withFixture(
    _ engine: Engine, _ storage: StorageKind = .folder, _ body: (SweepFixture) async throws -> Void
  ) async throws {
    try await withTestDatabase(engine) { testDatabase in
      try await withStorage(storage, in: testDatabase) { stored in
        let (database, clock) = (try await testDatabase.open("groups", groupsMigrations), TestClock())
        // At noon, so that an hour ago is the same day.
        clock.move(to: Date(timeIntervalSince1970: (Date().timeIntervalSince1970 / day).rounded(.down) * day + day / 2))
        let (alice, now) = (UserID.new(at: clock.now), clock.now)
        let group = try await database.write { db in
          try GroupStore.create(
            NewGroup(id: .new(at: now), owner: alice, name: "Ours", description: nil, timeZone: .gmt, createdAt: now),
            on: db)
        }
        let sweep = PhotoSweep(
          store: PhotoSweepStore(database: database), files: stored.files, local: stored.local, logger: quiet,
          now: { clock.now }, pollInterval: .seconds(1))
        // Writes the marker to storage and database.
        try await sweep.reconcile()
        try await body(
          SweepFixture(database: database, stored: stored, clock: clock, alice: alice, group: group.id, sweep: sweep))
        await database.close()
      }
    }
  }

  private let day: TimeInterval = 86_400

  @Test(arguments: engines, StorageKind.allCases)
  func whatHasLostHalfItsBytesEndsWhereverItLies(engine: Engine, storage: StorageKind) async throws {
    try await withFixture(engine, storage) { fixture in
      // Each is alone in its folder and the last of its page; one lies between the others.
      let photos = [try await fixture.photo(1.9 * day), try await fixture.photo(day), try await fixture.photo(3600)]
      for photo in photos { #expect(try await fixture.isVisible(photo)) }
      try await fixture.sweep.reconcile()
      for photo in photos { #expect(try await fixture.isVisible(photo)) }
      for (index, photo) in photos.enumerated() {
        try await fixture.stored.files.delete([PhotoFileName(photo, index == 1 ? .large : .small)])
      }
      try await fixture.sweep.reconcile()
      for photo in photos { #expect(try await !fixture.isVisible(photo)) }
      try await fixture.sweep.deleteEnded()
      #expect(try await fixture.rows().isEmpty)
      #expect(try fixture.stored.names.isEmpty)
    }
  }

  @Test(arguments: engines, StorageKind.allCases)
  func aFileThatCannotBeDeletedKeepsNoOther(engine: Engine, storage: StorageKind) async throws {
    try await withFixture(engine, storage) { fixture in
      let photos = [
        try await fixture.photo(5 * day), try await fixture.photo(4 * day), try await fixture.photo(3 * day),
      ]
      let alive = try await fixture.photo(day)
      // The file that is deleted first cannot be: a folder has its name, or the store refuses.
      let bad = PhotoFileName(photos[0], .large)
      let path = "\(fixture.stored.local.path)/\(bad.text.prefix(7))/\(bad.text)"
      if let store = fixture.stored.store {
        store.refused = [bad.text]
      } else {
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      }
      try await fixture.sweep.deleteEnded()
      #expect(try await fixture.rows() == [photos[0], alive])
      let others = try fixture.stored.names.filter { !$0.hasPrefix("\(photos[0])") }
      #expect(others == ["\(alive).1080.jpg", "\(alive).320.jpg"])
      #expect(try fixture.stored.names.contains(bad.text))
      #expect(try await fixture.isVisible(alive))
      #expect(try await !fixture.isVisible(photos[0]))

      // A minute later it is tried again.
      fixture.stored.store?.refused = []
      if fixture.stored.store == nil { try FileManager.default.removeItem(atPath: path) }
      fixture.clock.advance(by: .seconds(PhotoSweep.retryDelay))
      try await fixture.sweep.deleteEnded()
      #expect(try await fixture.rows() == [alive])
      #expect(try fixture.stored.names.count == 2)
    }
  }

  @Test(arguments: engines, StorageKind.allCases)
  func bytesOfNobodyThatCannotBeDeletedKeepNoOther(engine: Engine, storage: StorageKind) async throws {
    try await withFixture(engine, storage) { fixture in
      let ids = (0..<3).map { PhotoID.new(at: fixture.clock.now - Double(5 - $0) * 3600) }
      for id in ids { try await fixture.stored.files.store([1], as: PhotoFileName(id, .large)) }
      let bad = PhotoFileName(ids[0], .small)
      if let store = fixture.stored.store {
        store.refused = [bad.text]
      } else {
        let path = "\(fixture.stored.local.path)/\(bad.text.prefix(7))/\(bad.text)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      }
      let lost = try await fixture.photo(2 * 3600, kinds: [.large])
      try await fixture.sweep.reconcile()
      #expect(try fixture.stored.names.filter { !$0.hasPrefix("\(ids[0])") } == ["\(lost).1080.jpg"])
      #expect(try await !fixture.isVisible(lost))
    }
  }

  @Test(arguments: engines) func photosEndWhileAStoreSaysWhatItHas(engine: Engine) async throws {
    try await withFixture(engine, .bucket) { fixture in
      let store = try #require(fixture.stored.store)
      store.isEndless = true
      let photo = try await fixture.photo(1.5 * day)
      try await running([fixture.sweep]) {
        try await eventually("the listing") { store.listings > 3 }
        #expect(try await fixture.rows() == [photo])
        fixture.clock.advance(by: .seconds(day))
        try await eventually("the end of the photo") { try await fixture.rows().isEmpty }
        #expect(store.names.isEmpty)
        let seen = store.listings
        try await eventually("more of the listing") { store.listings > seen }
      }
    }
  }

  /// Originals can be uploaded again with a presigned URL, which cannot be revoked.
  @Test(arguments: engines, StorageKind.allCases)
  func whatComesAgainForAConfirmedPhotoGoes(engine: Engine, storage: StorageKind) async throws {
    try await withFixture(engine, storage) { fixture in
      let photo = try await fixture.photo(60, kinds: PhotoFileName.Kind.allCases)
      let (pending, user, group) = (PhotoID.new(at: fixture.clock.now), fixture.alice, fixture.group)
      let now = fixture.clock.now
      try await fixture.database.write { try $0.change("update photo set day = 'another' where id = \(photo)") }
      try await fixture.database.write { try PhotoStore.insertPending(pending, to: group, by: user, at: now, on: $0) }
      try await fixture.stored.files.store([1], as: PhotoFileName(pending, .original))
      #expect(try fixture.stored.names.count == 4)
      try await fixture.sweep.reconcile()
      #expect(try fixture.stored.names == ["\(photo).1080.jpg", "\(photo).320.jpg", "\(pending).upload"])
      #expect(try await fixture.isVisible(photo))
    }
  }

  @Test(arguments: engines) func aClosedGroupIsForgottenOnceItsPhotosAre(engine: Engine) async throws {
    try await withFixture(engine) { fixture in
      let (alice, now) = (fixture.alice, fixture.clock.now)
      let other = try await fixture.database.write { db in
        try GroupStore.create(
          NewGroup(id: .new(at: now), owner: alice, name: "Others", description: nil, timeZone: .gmt, createdAt: now),
          on: db)
      }
      func groups() async throws -> Set<GroupID> {
        try await fixture.database.read { db in
          Set(try db.rows("select id from social_group").map { try $0.get("id", as: GroupID.self) })
        }
      }
      _ = try await fixture.photo(3600)
      try await MembershipStore(database: fixture.database, photoAccess: PhotoAccessCache())
        .close(fixture.group, by: alice, at: now)
      try await fixture.sweep.deleteClosedGroups()
      #expect(try await groups() == [fixture.group, other.id])
      try await fixture.sweep.deleteEnded()
      try await fixture.sweep.deleteClosedGroups()
      #expect(try await groups() == [other.id])
    }
  }

  /// An existing folder may have been created by another process that has not synced its parent yet.
  @Test func aFileLastsWithTheFolderThatItLiesIn() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let synced = RecordedPaths()
      let path = testDatabase.folder.appendingPathComponent("photos").path
      let folder = try PhotoFolder(path) { synced.append($0) }
      let name = PhotoFileName(.new(at: Date()), .large)
      let inner = "\(path)/\(name.text.prefix(7))"
      for _ in 0..<2 {
        try await folder.store([1, 2, 3], as: name)
        #expect(synced.removeAll() == [inner, path])
      }
    }
  }
}

/// Paths in the order in which they were synced.
private final class RecordedPaths: Sendable {
  private let paths = Mutex<[String]>([])

  func append(_ path: String) { paths.withLock { $0.append(path) } }

  func removeAll() -> [String] {
    paths.withLock { paths in
      defer { paths = [] }
      return paths
    }
  }
}
