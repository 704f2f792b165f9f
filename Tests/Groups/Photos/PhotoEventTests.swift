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
}
