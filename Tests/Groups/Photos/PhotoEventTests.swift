import Database
import Foundation
import Support
import Testing
import Wire

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

extension FeedEvent {
  /// The photos whose rows are deleted.
  fileprivate var photos: [String] {
    let rows = [change].compactMap(\.self) + (changes ?? [])
    return rows.filter { $0.table == "photos" && $0.type == .delete }.compactMap { row in
      if case .string(let id)? = row.oldRecord?["id"] { id } else { nil }
    }
  }
}
