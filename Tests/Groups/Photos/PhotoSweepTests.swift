import Database
import Foundation
import Support
import Synchronization
import Testing
import Wire

@testable import Groups

/// What is cleared away, and that nothing keeps the rest from it.
@Suite struct PhotoSweepTests {
  /// Alice's group with photos of hers, and who sweeps there.
  private struct Room {
    let database: any Database
    let stored: Stored
    let clock: TestClock
    let alice: UserID
    let group: GroupID
    let sweep: PhotoSweep

    /// A photo that came so long ago, with its bytes.
    func photo(_ ago: TimeInterval, kinds: [PhotoFileName.Kind] = [.large, .small]) async throws -> PhotoID {
      let time = clock.now - ago
      let photo = Photo(id: .new(at: time), group: group, sender: alice, sentAt: time)
      for kind in kinds { try await stored.files.store([1, 2, 3], as: PhotoFileName(photo.id, kind)) }
      try await database.write { db in
        _ = try PhotoStore.keep(photo, PhotoMeasures(width: 1, height: 1, byteCount: 3), on: db)
      }
      return photo.id
    }

    func rows() async throws -> Set<PhotoID> {
      try await database.read { db in Set(try db.rows("select id from photo").map { try $0.get("id") }) }
    }

    func isSeen(_ photo: PhotoID) async throws -> Bool {
      let store = PhotoStore(database: database, sights: PhotoSights())
      do { return try await store.photo(photo, for: alice, at: clock.now).id == photo } catch is Failure {
        return false
      }
    }
  }

  private func withRoom(
    _ engine: Engine, _ storage: Storage = .folder, _ body: (Room) async throws -> Void
  ) async throws {
    try await withPlace(engine) { place in
      try await withStored(storage, in: place) { stored in
        let (database, clock) = (try await place.open("groups", groupsMigrations), TestClock())
        // At noon, so that an hour ago is the same day.
        clock.move(to: Date(timeIntervalSince1970: (Date().timeIntervalSince1970 / day).rounded(.down) * day + day / 2))
        let (alice, now) = (UserID.new(at: clock.now), clock.now)
        let group = try await database.write { db in
          try GroupStore.create(
            NewGroup(id: .new(at: now), owner: alice, name: "Ours", description: nil, timeZone: .gmt, at: now), on: db)
        }
        let sweep = PhotoSweep(
          remains: PhotoRemains(database: database), files: stored.files, local: stored.local, logger: quiet,
          now: { clock.now })
        // The store and the database know of each other from now on.
        try await sweep.compare()
        try await body(
          Room(database: database, stored: stored, clock: clock, alice: alice, group: group.id, sweep: sweep))
        await database.close()
      }
    }
  }

  private let day: TimeInterval = 86_400

  @Test(arguments: engines, Storage.allCases)
  func whatHasLostHalfItsBytesEndsWhereverItLies(engine: Engine, storage: Storage) async throws {
    try await withRoom(engine, storage) { room in
      // Each alone in its folder, and the last of its page; one lies between others.
      let photos = [try await room.photo(1.9 * day), try await room.photo(day), try await room.photo(3600)]
      for photo in photos { #expect(try await room.isSeen(photo)) }
      try await room.sweep.compare()
      for photo in photos { #expect(try await room.isSeen(photo)) }
      for (index, photo) in photos.enumerated() {
        try await room.stored.files.delete([PhotoFileName(photo, index == 1 ? .large : .small)])
      }
      try await room.sweep.compare()
      for photo in photos { #expect(try await !room.isSeen(photo)) }
      try await room.sweep.deleteEnded()
      #expect(try await room.rows().isEmpty)
      #expect(try room.stored.names.isEmpty)
    }
  }

  @Test(arguments: engines, Storage.allCases)
  func aFileThatCannotBeDeletedKeepsNoOther(engine: Engine, storage: Storage) async throws {
    try await withRoom(engine, storage) { room in
      let photos = [try await room.photo(5 * day), try await room.photo(4 * day), try await room.photo(3 * day)]
      let alive = try await room.photo(day)
      // The one that is deleted first: a folder of its name, or one that the store does not let go of.
      let bad = PhotoFileName(photos[0], .large)
      let path = "\(room.stored.local.path)/\(bad.text.prefix(7))/\(bad.text)"
      if let store = room.stored.store {
        store.refused = [bad.text]
      } else {
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      }
      try await room.sweep.deleteEnded()
      #expect(try await room.rows() == [photos[0], alive])
      let others = try room.stored.names.filter { !$0.hasPrefix("\(photos[0])") }
      #expect(others == ["\(alive).1080.jpg", "\(alive).320.jpg"])
      #expect(try room.stored.names.contains(bad.text))
      #expect(try await room.isSeen(alive))
      #expect(try await !room.isSeen(photos[0]))

      // A minute later it is tried again.
      room.stored.store?.refused = []
      if room.stored.store == nil { try FileManager.default.removeItem(atPath: path) }
      room.clock.advance(by: .seconds(PhotoSweep.pause))
      try await room.sweep.deleteEnded()
      #expect(try await room.rows() == [alive])
      #expect(try room.stored.names.count == 2)
    }
  }

  @Test(arguments: engines, Storage.allCases)
  func bytesOfNobodyThatCannotBeDeletedKeepNoOther(engine: Engine, storage: Storage) async throws {
    try await withRoom(engine, storage) { room in
      let ids = (0..<3).map { PhotoID.new(at: room.clock.now - Double(5 - $0) * 3600) }
      for id in ids { try await room.stored.files.store([1], as: PhotoFileName(id, .large)) }
      let bad = PhotoFileName(ids[0], .small)
      if let store = room.stored.store {
        store.refused = [bad.text]
      } else {
        let path = "\(room.stored.local.path)/\(bad.text.prefix(7))/\(bad.text)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      }
      let lost = try await room.photo(2 * 3600, kinds: [.large])
      try await room.sweep.compare()
      #expect(try room.stored.names.filter { !$0.hasPrefix("\(ids[0])") } == ["\(lost).1080.jpg"])
      #expect(try await !room.isSeen(lost))
    }
  }

  @Test(arguments: engines) func photosEndWhileAStoreSaysWhatItHas(engine: Engine) async throws {
    try await withRoom(engine, .bucket) { room in
      let store = try #require(room.stored.store)
      store.isEndless = true
      let photo = try await room.photo(1.5 * day)
      try await running([room.sweep]) {
        try await eventually("the listing") { store.listings > 3 }
        #expect(try await room.rows() == [photo])
        room.clock.advance(by: .seconds(day))
        try await eventually("the end of the photo") { try await room.rows().isEmpty }
        #expect(store.names.isEmpty)
        let seen = store.listings
        try await eventually("more of the listing") { store.listings > seen }
      }
    }
  }

  /// As may come by an address in a bucket, which cannot be taken back.
  @Test(arguments: engines, Storage.allCases)
  func whatComesAgainForAConfirmedPhotoGoes(engine: Engine, storage: Storage) async throws {
    try await withRoom(engine, storage) { room in
      let photo = try await room.photo(60, kinds: PhotoFileName.Kind.allCases)
      let (waiting, user, group, now) = (PhotoID.new(at: room.clock.now), room.alice, room.group, room.clock.now)
      try await room.database.write { try $0.change("update photo set day = 'another' where id = \(photo)") }
      try await room.database.write { try PhotoStore.announce(waiting, to: group, by: user, at: now, on: $0) }
      try await room.stored.files.store([1], as: PhotoFileName(waiting, .original))
      #expect(try room.stored.names.count == 4)
      try await room.sweep.compare()
      #expect(try room.stored.names == ["\(photo).1080.jpg", "\(photo).320.jpg", "\(waiting).upload"])
      #expect(try await room.isSeen(photo))
    }
  }

  @Test(arguments: engines) func aClosedGroupIsForgottenOnceItsPhotosAre(engine: Engine) async throws {
    try await withRoom(engine) { room in
      let (alice, now) = (room.alice, room.clock.now)
      let other = try await room.database.write { db in
        try GroupStore.create(
          NewGroup(id: .new(at: now), owner: alice, name: "Others", description: nil, timeZone: .gmt, at: now), on: db)
      }
      func groups() async throws -> Set<GroupID> {
        try await room.database.read { db in
          Set(try db.rows("select id from social_group").map { try $0.get("id", as: GroupID.self) })
        }
      }
      _ = try await room.photo(3600)
      try await MembershipStore(database: room.database, sights: PhotoSights()).close(room.group, by: alice, at: now)
      try await room.sweep.forgetClosedGroups()
      #expect(try await groups() == [room.group, other.id])
      try await room.sweep.deleteEnded()
      try await room.sweep.forgetClosedGroups()
      #expect(try await groups() == [other.id])
    }
  }

  /// A folder that is there already may be another's work, which has not become lasting yet.
  @Test func aFileLastsWithTheFolderThatItLiesIn() async throws {
    try await withPlace(.sqlite) { place in
      let synced = Noted()
      let path = place.folder.appendingPathComponent("photos").path
      let folder = try PhotoFolder(path) { synced.note($0) }
      let name = PhotoFileName(.new(at: Date()), .large)
      let inner = "\(path)/\(name.text.prefix(7))"
      for _ in 0..<2 {
        try await folder.store([1, 2, 3], as: name)
        #expect(synced.taken() == [inner, path])
      }
    }
  }
}

/// What has been said, in its order.
private final class Noted: Sendable {
  private let words = Mutex<[String]>([])

  func note(_ word: String) { words.withLock { $0.append(word) } }

  func taken() -> [String] {
    words.withLock { words in
      defer { words = [] }
      return words
    }
  }
}
