import Database
import Foundation
import Logging
import Support
import Testing
import Web
import Wire

@testable import Groups

/// A process that has the wrong folder, bucket or database takes nothing from those who have the right ones.
@Suite struct StoreMarkTests {
  /// A database with a group in it.
  private struct Home {
    let database: any Database
    let group: GroupID
    let alice: UserID
    let now: Date

    func sweep(_ files: any PhotoFiles, _ local: PhotoFolder, _ log: Logger = quiet) -> PhotoSweep {
      // Everything is old enough to be compared.
      let later = now + 3600
      return PhotoSweep(
        remains: PhotoRemains(database: database), files: files, local: local, logger: log, now: { later })
    }

    /// A photo with its bytes, or without.
    func photo(in files: (any PhotoFiles)?, day: String) async throws -> PhotoID {
      let photo = Photo(id: .new(at: now), group: group, sender: alice, sentAt: now)
      if let files {
        for size in PhotoSize.allCases { try await files.store([1, 2, 3], as: PhotoFileName(photo.id, size: size)) }
      }
      try await database.write { db in
        _ = try PhotoStore.keep(photo, PhotoMeasures(width: 1, height: 1, byteCount: 3), on: db)
        try db.change("update photo set day = \(day) where id = \(photo.id)")
      }
      return photo.id
    }

    func seen() async throws -> Int {
      try await database.read { try $0.rows("select id from photo where state = 'ready'").count }
    }
  }

  private func withHome(
    _ engine: Engine, _ storage: Storage, _ body: (Home, Stored, Place) async throws -> Void
  ) async throws {
    try await withPlace(engine) { place in
      try await withStored(storage, in: place) { stored in
        let home = try await home(in: place)
        try await body(home, stored, place)
        await home.database.close()
      }
    }
  }

  private func home(in place: Place, _ name: String = "groups") async throws -> Home {
    let database = try await place.open(name, groupsMigrations)
    let (now, alice) = (Date(), UserID.new(at: Date()))
    let group = try await database.write { db in
      try GroupStore.create(
        NewGroup(id: .new(at: now), owner: alice, name: "Ours", description: nil, timeZone: .gmt, at: now), on: db)
    }
    return Home(database: database, group: group.id, alice: alice, now: now)
  }

  @Test(arguments: engines, Storage.allCases)
  func anEmptyFolderInTheWrongPlaceEndsNobodysPhotos(engine: Engine, storage: Storage) async throws {
    try await withHome(engine, storage) { home, stored, place in
      let right = home.sweep(stored.files, stored.local)
      try await right.compare()
      #expect(try await stored.files.mark() != nil)
      _ = try await home.photo(in: stored.files, day: "1")
      let log = RecordedLog()
      let other = try PhotoFolder(place.folder.appendingPathComponent("elsewhere").path)
      let wrong = home.sweep(other, other, log.logger)
      for _ in 0..<2 { try await wrong.compare() }
      #expect(try await home.seen() == 1)
      #expect(log.count(.error) == 2)
      // Also once somebody's photo has come to it.
      let astray = try await home.photo(in: other, day: "2")
      try await wrong.compare()
      #expect(try await home.seen() == 2)
      #expect(try await other.mark() == nil)
      // Who has the right one finds what is lost, as before.
      try await right.compare()
      #expect(try await home.seen() == 1)
      #expect(try await other.read(PhotoFileName(astray, .large), nil) != nil)
    }
  }

  @Test(arguments: engines, Storage.allCases)
  func aDatabaseThatWasSetUpAnewDeletesNobodysBytes(engine: Engine, storage: Storage) async throws {
    try await withHome(engine, storage) { home, stored, place in
      try await home.sweep(stored.files, stored.local).compare()
      _ = try await home.photo(in: stored.files, day: "1")
      let fresh = try await self.home(in: place, "fresh")
      let log = RecordedLog()
      let wrong = fresh.sweep(stored.files, stored.local, log.logger)
      try await wrong.compare()
      #expect(try stored.names.count == 2 && log.count(.error) == 1)
      // Nor one that belongs to another store.
      let own = try PhotoFolder(place.folder.appendingPathComponent("elsewhere").path)
      try await fresh.sweep(own, own).compare()
      try await wrong.compare()
      #expect(try stored.names.count == 2 && log.count(.error) == 2)
      await fresh.database.close()
      #expect(try await home.seen() == 1)
    }
  }

  /// With two slashes it would be a folder below the present one, which is made if it is not there.
  @Test func aFolderIsNamedFromTheRoot() async throws {
    try await withPlace(.sqlite) { place in
      let path = place.folder.appendingPathComponent("kept").path
      for wrong in ["file://kept", "file://", "kept", "/kept"] {
        let settings = Settings(["DATA_DIR": place.folder.path, "PHOTO_STORAGE": wrong])
        #expect(throws: StartFailure.self, "\(wrong)") { try PhotoStorage(settings, logger: quiet) }
      }
      let right = try PhotoStorage(Settings(["PHOTO_STORAGE": "file://\(path)"]), logger: quiet)
      #expect(right.local.path == path)
    }
  }

  /// As all were before there were marks.
  @Test(arguments: engines, Storage.allCases)
  func aStoreWithoutAMarkIsMarkedWhereItFits(engine: Engine, storage: Storage) async throws {
    try await withHome(engine, storage) { home, stored, _ in
      let sweep = home.sweep(stored.files, stored.local)
      // Bytes of nobody alone, or a photo without its bytes, could be of another store.
      let nobodys = PhotoFileName(.new(at: home.now), .large)
      try await stored.files.store([1], as: nobodys)
      try await sweep.compare()
      #expect(try await stored.files.mark() == nil && stored.names.count == 1)
      _ = try await home.photo(in: stored.files, day: "1")
      let lost = try await home.photo(in: nil, day: "2")
      try await sweep.compare()
      #expect(try await stored.files.mark() == nil && stored.names.count == 3)
      #expect(try await home.seen() == 2)
      try await home.database.write { try $0.change("delete from photo where id = \(lost)") }
      try await sweep.compare()
      #expect(try await stored.files.mark() == home.sweep(stored.files, stored.local).remains.storeMark()?.id)
      #expect(try stored.names.count == 2)
    }
  }

  /// A process may die after it has noted the mark, or after it has placed it.
  @Test(arguments: engines, [false, true])
  func aDeathInTheMidstOfMarkingIsMadeGood(engine: Engine, isPlaced: Bool) async throws {
    try await withHome(engine, .folder) { home, stored, _ in
      let sweep = home.sweep(stored.files, stored.local)
      let mark = StoreMarkID.new(at: home.now)
      try await sweep.remains.note(mark)
      if isPlaced { try await stored.files.place(mark) }
      try await sweep.compare()
      let found = try await stored.files.mark()
      #expect(found == mark)
      #expect(try await sweep.remains.storeMark() == StoreMark(id: mark, isPlaced: true))
    }
  }
}
