import Database
import Foundation
import Support
import Testing
import Wire

@testable import Groups
@testable import Photos

/// When a day begins, when photos expire, and how they are deleted.
@Suite struct PhotoExpiryTests {
  @Test(arguments: engines) func aPhotoLivesFortyEightHoursToTheSecond(engine: Engine) async throws {
    try await withStack(engine) { stack in
      var alice = try await stack.signIn("alice")
      let group = try await alice.group("Ours")
      let sent = try await alice.send(SamplePhotos.jpeg, to: group)
      let id = try #require(PhotoID(sent.string("photo_id")))
      let end = try #require(RFC3339.parse(sent.string("expires_at")))
      let database = try await stack.testDatabase.open("groups", [])
      let store = PhotoStore(database: database, photoAccess: PhotoAccessCache())
      #expect(try await store.photo(id, for: alice.id, at: end - 1).expiresAt == end)
      await #expect(throws: Failure.photoGone) { _ = try await store.photo(id, for: alice.id, at: end) }

      stack.clock.move(to: end - 60)
      alice = try await stack.signIn("alice")
      #expect(try await alice.today(group).isEmpty)
      let path = stack.path(try await alice.browser.get("/api/photos/\(id)").string("url"))
      #expect(try await stack.gateway.get(path).status == 200)
      #expect(stack.photoFiles.count == 2)
      stack.clock.move(to: end)
      #expect(try await alice.browser.get("/api/photos/\(id)").status == 410)
      #expect(try await stack.gateway.get(path).status == 410)
      // The sweep deletes them without a request.
      try await eventually("the end of the bytes") { stack.photoFiles.isEmpty }
      try await eventually("the end of the row") {
        try await database.read { try $0.row("select id from photo") == nil }
      }
      let gone = try await alice.browser.get("/api/photos/\(id)")
      #expect(gone.status == 410 && gone.string("code") == "photo_gone")
      #expect(try await stack.gateway.get(path).status == 410)
      await database.close()
    }
  }

  @Test(arguments: engines) func onlyItsSenderDeletesAPhoto(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob, carol) = (
        try await stack.signIn("alice"), try await stack.signIn("bob"), try await stack.signIn("carol")
      )
      let group = try await alice.group("Ours")
      try await stack.addMember(bob, in: group, by: alice)
      let id = try await alice.send(SamplePhotos.jpeg, to: group).string("photo_id")
      #expect(try await carol.browser.delete("/api/photos/\(id)").status == 404)
      #expect(try await bob.browser.delete("/api/photos/\(id)").status == 403)
      #expect(try await bob.today(group).count == 1)
      #expect(try await alice.browser.delete("/api/photos/\(id)/").bool("success") == true)
      #expect(try await bob.today(group).isEmpty)
      #expect([404, 410].contains(try await alice.browser.delete("/api/photos/\(id)").status))
      try await eventually("the end of the bytes") { stack.photoFiles.isEmpty }
      // The day is free again.
      #expect(try await alice.send(SamplePhotos.jpeg, to: group).status == 200)
    }
  }

  @Test(arguments: engines) func whoIsErasedLeavesNoBytes(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let (group, other) = (try await alice.group("Ours"), try await alice.group("Others"))
      try await stack.addMember(bob, in: group, by: alice)
      #expect(try await alice.send(SamplePhotos.jpeg, to: group).status == 200)
      let path = stack.path(try await bob.today(group).first?["url"])
      #expect(try await bob.send(SamplePhotos.jpeg, to: group).status == 200)
      let pendingUpload = try await alice.browser.post("/api/photos/upload-url", ["group_id": other.description])
      let uploadPath = stack.path(pendingUpload.string("upload_url"))
      #expect(try await stack.gateway.send(.PUT, uploadPath, body: SamplePhotos.jpeg).status == 200)
      #expect(try await stack.gateway.get(path).status == 200)
      #expect(stack.photoFiles.count == 5)

      #expect(try await erase(alice, stack) == 204)
      #expect(try await stack.gateway.get(path).status == 404)
      // 404 once the sweep has deleted the row.
      let late = try await stack.gateway.send(.PUT, uploadPath, body: SamplePhotos.jpeg)
      #expect([404, 410].contains(late.status), "\(late)")
      try await eventually("the end of the bytes") { stack.photoFiles.count == 2 }
      try await eventually("the end of the rows") { try await photoCount(of: alice, stack) == 0 }
      #expect(try await stack.gateway.send(.PUT, uploadPath, body: SamplePhotos.jpeg).status == 410)
      #expect(try await bob.today(group).count == 1)
    }
  }

  @Test(arguments: engines) func aPhotoThatArrivesDuringAnErasureDoesNotOutliveIt(engine: Engine) async throws {
    try await withStack(engine, ["RATE_LIMIT_UPLOAD": "1000000"]) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      var groups: [GroupID] = []
      for _ in 0..<5 {
        groups.append(try await alice.group("Ours"))
        try await stack.addMember(bob, in: groups[groups.count - 1], by: alice)
      }
      let statuses = try await atOnce(11) { [groups] index in
        guard index < 10 else {
          try await Task.sleep(for: .milliseconds(20))
          return try await erase(alice, stack)
        }
        return try await alice.send(SamplePhotos.jpeg, to: groups[index / 2]).status
      }
      #expect(Set(statuses).isSubset(of: [200, 204, 400, 403]), "\(statuses)")
      try await eventually("the end of the rows") { try await photoCount(of: alice, stack) == 0 }
      try await eventually("the end of the bytes") { stack.photoFiles.isEmpty }
      #expect(try await alice.send(SamplePhotos.jpeg, to: groups[0]).status == 403)
    }
  }

  private func erase(_ user: SignedInUser, _ stack: TestStack) async throws -> Int {
    try await stack.groups.with(stack.with(key: "auth")).delete("/internal/users/\(user.id)/data").status
  }

  private func photoCount(of user: SignedInUser, _ stack: TestStack) async throws -> Int {
    let database = try await stack.testDatabase.open("groups", [])
    let count = try await database.read { try $0.rows("select id from photo where sender_id = \(user.id)").count }
    await database.close()
    return count
  }

  /// 29 March 2026 has 23 hours in Oslo, 25 October has 25.
  @Test(arguments: [
    ("2026-03-28T22:59:50Z", "2026-03-28T23:00:00Z", "2026-03-29T21:59:50Z", "2026-03-29T22:00:00Z"),
    ("2026-10-24T21:59:50Z", "2026-10-24T22:00:00Z", "2026-10-25T22:59:50Z", "2026-10-25T23:00:00Z"),
  ])
  func aDayIsTheGroupsOwnAlsoWhenTheClocksChange(times: (String, String, String, String)) async throws {
    let (lastMoment, midnight, lateThere, nextMidnight) = times
    try await withTestDatabase(.sqlite) { testDatabase in
      let database = try await testDatabase.open("groups", groupsMigrations)
      let store = PhotoStore(database: database, photoAccess: PhotoAccessCache())
      let alice = UserID.new(at: Date())
      let group = try await database.write { db in
        try GroupStore.create(
          NewGroup(
            id: .new(at: Date()), owner: alice, name: "Ours", description: nil,
            timeZone: try GroupFields.timeZone("Europe/Oslo"), createdAt: Date()), on: db)
      }
      func send(_ time: String) async throws -> Bool {
        let now = try #require(RFC3339.parse(time))
        let photo = Photo(id: .new(at: now), group: group.id, sender: alice, sentAt: now)
        let dimensions = PhotoDimensions(width: 1, height: 1, byteCount: 1)
        do {
          try await database.write { try PhotoStore.insert(photo, dimensions, on: $0) }
          return true
        } catch let failure as Failure where failure == .alreadySentToday { return false }
      }
      func seen(_ time: String) async throws -> Int {
        try await store.today(of: group.id, for: alice, at: try #require(RFC3339.parse(time))).count
      }
      #expect(try await send(lastMoment))
      #expect(try await !send(lastMoment))
      #expect(try await seen(lastMoment) == 1)
      #expect(try await seen(midnight) == 0)
      #expect(try await send(midnight))
      #expect(try await !send(lateThere))
      #expect(try await seen(lateThere) == 1)
      #expect(try await send(nextMidnight))
      await database.close()
    }
  }

  /// Files without rows and rows without files, as a crash or an operator may leave them.
  @Test(arguments: engines) func bytesWithoutRowsAndRowsWithoutBytesAreFound(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let group = try await alice.group("Ours")
      try await stack.addMember(bob, in: group, by: alice)
      let kept = try await alice.send(SamplePhotos.jpeg, to: group).string("photo_id")
      let lost = try await bob.send(SamplePhotos.jpeg, to: group).string("photo_id")
      let database = try await stack.testDatabase.open("groups", [])
      let folder = try PhotoFolder(stack.testDatabase.folder.appendingPathComponent("photos").path)
      for _ in 0..<3 { try await folder.store([1, 2, 3], as: PhotoFileName(.new(at: Date()), .large)) }
      try await folder.delete([PhotoFileName(try #require(PhotoID(lost)), .small)])
      try Data([1]).write(to: URL(fileURLWithPath: "\(folder.incoming)/half.written"))
      // Two of alice's, one of bob's, three orphans, and an incomplete one.
      #expect(stack.photoFiles.count == 7)
      let clock = TestClock()
      let sweep = PhotoSweep(
        store: PhotoSweepStore(database: database), files: folder, local: folder, logger: quiet, now: { clock.now })
      // Not yet: a request may still be running that writes them.
      try await sweep.reconcile()
      #expect(stack.photoFiles.count == 7)
      clock.advance(by: .seconds(700))
      try await sweep.reconcile()
      try await sweep.deleteEnded()
      #expect(Set(stack.photoFiles.compactMap { $0.split(separator: "/").last?.prefix(36) }) == [kept[...]])
      #expect(try await alice.today(group).map { $0["id"] as? String } == [kept])
      await database.close()
    }
  }
}
