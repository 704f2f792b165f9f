import Database
import Foundation
import Support
import Testing
import Wire

@testable import Groups

/// The events of photos, which a block hides from each other's members like the photos themselves.
@Suite struct PhotoEventTests {
  @Test(arguments: engines) func membersAreToldOfAPhotoAndOfItsEnd(engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let alice = try await stack.signIn("alice")
      let group = try await alice.group("The Cabin")
      let photo = try await alice.send(SamplePhotos.jpeg, to: group).string("photo_id")
      // The second one of the day is refused.
      #expect(try await alice.send(SamplePhotos.jpeg, to: group).status == 400)
      #expect(try await alice.browser.delete("/api/photos/\(photo)").status == 200)
      let topic = "social_groups:\(group)"
      try await eventually { receiver.events(on: topic).last?.name == "photo_deleted" }
      let events = receiver.events(on: topic)
      #expect(events.map(\.name) == ["member_joined", "photo_sent", "photo_deleted"])
      let sent = try #require(events.dropFirst().first)
      #expect(sent.payload["photo_id"] == .string(photo) && sent.payload["sender_id"] == .string(alice.id.description))
      #expect(sent.change?.table == "photos" && sent.change?.record?["id"] == .string(photo))
      #expect(sent.change?.record?["group_id"] == .string(group.description))
      // Links are signed for each viewer.
      #expect(sent.change?.record?["url"] == nil)
    }
  }

  @Test(arguments: engines) func aPhotoThatIsConfirmedIsToldOnce(engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let alice = try await stack.signIn("alice")
      let group = try await alice.group("The Cabin")
      let topic = "social_groups:\(group)"
      let made = try await alice.browser.post("/api/photos/upload-url", ["group_id": group.description])
      let (photo, path) = (made.string("photo_id"), stack.path(made.string("upload_url")))
      @Sendable func confirm() async throws -> Int {
        try await alice.browser.post("/api/photos/confirm-upload", ["photo_id": photo]).status
      }
      // Nothing was uploaded.
      #expect(try await confirm() == 400)
      #expect(try await stack.gateway.send(.PUT, path, body: SamplePhotos.jpeg).status == 200)
      let confirmed = try await atOnce(5) { _ in try await confirm() }
      #expect(confirmed.allSatisfy { $0 == 200 }, "\(confirmed)")
      try await eventually("the delivery") { try await stack.count("event_outbox", in: "groups") == 0 }

      #expect(receiver.events(on: topic).map(\.name) == ["member_joined", "photo_sent"])
      let sent = try #require(receiver.events(on: topic).last)
      let (id, sender) = (JSONValue.string(photo), JSONValue.string(alice.id.description))
      let groupID = JSONValue.string(group.description)
      #expect(sent.payload == .object(["photo_id": id, "group_id": groupID, "sender_id": sender]))
      #expect(sent.change?.table == "photos" && sent.change?.type == .insert && sent.changes == nil)
      let record = try #require(sent.change?.record)
      #expect(record["id"] == id && record["group_id"] == groupID && record["sender_id"] == sender)
      #expect(record["width"] == .integer(128) && record["height"] == .integer(48))
      let shown = try await alice.browser.get("/api/photos/\(photo)").string("expires_at")
      let end = try #require(RFC3339.parse(shown))
      #expect(record["expires_at"] == .string(RFC3339.milliseconds(end)))
    }
  }

  @Test(arguments: engines) func aBlockHidesThePhotosOfTwoMembersAndNothingElse(engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let (carol, dave) = (try await stack.signIn("carol"), try await stack.signIn("dave"))
      let group = try await alice.group("The Cabin")
      for member in [bob, carol] { try await stack.addMember(member, in: group, by: alice) }
      // Dave is no member.
      for blocker in [bob, dave] {
        #expect(try await blocker.browser.post("/api/users/\(alice.id)/block").status == 200)
      }
      let photo = try await alice.send(SamplePhotos.jpeg, to: group).string("photo_id")
      #expect(try await bob.send(SamplePhotos.jpeg, to: group).status == 200)
      #expect(try await carol.send(SamplePhotos.jpeg, to: group).status == 200)
      #expect(try await alice.browser.delete("/api/photos/\(photo)").status == 200)
      let topic = "social_groups:\(group)"
      try await eventually { receiver.events(on: topic).contains { $0.name == "photo_deleted" } }
      let told = receiver.events(on: topic).filter { $0.name.hasPrefix("photo") }
      #expect(told.map(\.name) == ["photo_sent", "photo_sent", "photo_sent", "photo_deleted"])
      #expect(told.map { $0.hiddenFrom ?? [] } == [[bob.id], [alice.id], [], [bob.id]])
      // Carol, who has blocked nobody, gets every row.
      #expect(told.map { $0.change?.table } == Array(repeating: "photos", count: 4))
    }
  }

  @Test(arguments: engines) func photosThatExpireAreDeletedRows(engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let carol = try await stack.signIn("carol")
      let group = try await alice.group("The Cabin")
      for member in [bob, carol] { try await stack.addMember(member, in: group, by: alice) }
      #expect(try await bob.browser.post("/api/users/\(alice.id)/block").status == 200)
      var photos: [String] = []
      for member in [alice, bob, carol] {
        photos.append(try await member.send(SamplePhotos.jpeg, to: group).string("photo_id"))
      }
      stack.clock.advance(by: .seconds(49 * 3600))
      let topic = "social_groups:\(group)"
      func ended() -> [FeedEvent] { receiver.events(on: topic).filter { $0.name == "photos_deleted" } }
      try await eventually("the end of all three") { ended().flatMap(\.photos).count == 3 }
      #expect(Set(ended().flatMap(\.photos)) == Set(photos))
      // Each is hidden from whom its photo was.
      for (photo, hiddenFrom) in zip(photos, [[bob.id], [alice.id], []]) {
        let event = try #require(ended().first { $0.photos.contains(photo) })
        #expect(event.hiddenFrom ?? [] == hiddenFrom && event.payload["group_id"] == .string(group.description))
      }
    }
  }

  /// Members are told when a photo ends, and not once more when its files can be deleted at last.
  @Test(arguments: engines) func aPhotoWhoseFilesCannotBeDeletedEndsOnce(engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let group = try await alice.group("The Cabin")
      try await stack.addMember(bob, in: group, by: alice)
      let stuck = try await alice.send(SamplePhotos.jpeg, to: group).string("photo_id")
      let other = try await bob.send(SamplePhotos.jpeg, to: group).string("photo_id")
      // A folder has the name of its file.
      let path = try stack.smallFile(of: stuck)
      try FileManager.default.removeItem(atPath: path)
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      stack.clock.advance(by: .seconds(49 * 3600))
      try await eventually("the end of one, and not of the other") {
        let ended = try await stack.count("photo where state = 'ended'", in: "groups")
        return try await stack.count("photo", in: "groups") == 1 && ended == 1
      }
      func ends() async throws -> [FeedEvent] {
        try await eventually("the delivery") { try await stack.count("event_outbox", in: "groups") == 0 }
        return receiver.events(on: "social_groups:\(group)").filter { $0.name == "photos_deleted" }
      }
      #expect(try await ends().flatMap(\.photos).sorted() == [stuck, other].sorted())

      try FileManager.default.removeItem(atPath: path)
      stack.clock.advance(by: .seconds(PhotoSweep.retryDelay + 1))
      try await eventually("the end of the row") { try await stack.count("photo", in: "groups") == 0 }
      let told = try await ends()
      #expect(told.flatMap(\.photos).sorted() == [stuck, other].sorted())
      for event in told {
        let ids = JSONValue.array(event.photos.map { JSONValue.string($0) })
        #expect(event.payload == .object(["group_id": .string(group.description), "photo_ids": ids]))
      }
    }
  }

  /// As after a disk was restored from a backup.
  @Test(arguments: engines) func aPhotoWhoseFilesAreLostIsADeletedRow(engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let group = try await alice.group("The Cabin")
      try await stack.addMember(bob, in: group, by: alice)
      let kept = try await alice.send(SamplePhotos.jpeg, to: group).string("photo_id")
      let lost = try await bob.send(SamplePhotos.jpeg, to: group).string("photo_id")
      try FileManager.default.removeItem(atPath: try stack.smallFile(of: lost))
      // No request can still be storing it. Another process compares files and rows when it starts.
      stack.clock.advance(by: .seconds(700))
      try await running([try await buildGroups(stack.dependencies(of: "groups"))]) {
        try await eventually("the end of the row") { try await stack.count("photo", in: "groups") == 1 }
      }
      try await eventually("the delivery") { try await stack.count("event_outbox", in: "groups") == 0 }
      let told = receiver.events(on: "social_groups:\(group)").filter { $0.name.hasPrefix("photo") }
      #expect(told.map(\.name) == ["photo_sent", "photo_sent", "photos_deleted"])
      let deleted = try #require(told.last)
      #expect(
        deleted.payload
          == .object(["group_id": .string(group.description), "photo_ids": .array([.string(lost)])]))
      #expect(deleted.photos == [lost] && deleted.hiddenFrom == nil)
      #expect(try await stack.count("photo where id = \(PhotoID(kept)) and state = 'ready'", in: "groups") == 1)
    }
  }

  @Test(arguments: engines) func photosOfWhoIsErasedAreDeletedRows(engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let group = try await alice.group("The Cabin")
      try await stack.addMember(bob, in: group, by: alice)
      let photo = try await bob.send(SamplePhotos.jpeg, to: group).string("photo_id")
      let path = "/internal/users/\(bob.id)/data"
      for _ in 0..<2 { #expect(try await stack.groups.with(stack.with(key: "auth")).delete(path).status == 204) }
      let topic = "social_groups:\(group)"
      try await eventually { receiver.events(on: topic).contains { $0.name == "photos_deleted" } }
      #expect(receiver.events(on: topic).flatMap(\.photos) == [photo])
    }
  }
}

extension TestStack {
  /// The path of a photo's smaller file.
  fileprivate func smallFile(of photo: String) throws -> String {
    let file = try #require(photoFiles.first { $0.hasSuffix("/\(photo).320.jpg") })
    return testDatabase.folder.appendingPathComponent("photos/\(file)").path
  }
}

extension FeedEvent {
  /// The photos whose rows are deleted.
  fileprivate var photos: [String] {
    let rows = [change].compactMap(\.self) + (changes ?? [])
    return rows.filter { $0.table == "photos" && $0.type == .delete }.compactMap { row in
      if case .string(let id)? = row.oldRecord?["id"] { id } else { nil }
    }
  }
}
