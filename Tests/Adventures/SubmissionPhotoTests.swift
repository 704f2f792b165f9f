import Database
import Foundation
import NIOHTTP1
import Support
import Testing
import Wire

/// Photos of submissions that are files of their submitters, which groups stores.
@Suite struct SubmissionPhotoTests {
  @Test(arguments: engines) func whoSeesASubmissionReadsItsPhoto(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let (carol, mallory) = (try await stack.signIn("carol"), try await stack.signIn("mallory"))
      let hunt = try await alice.makeHunt(points: [1, 2])
      for person in [bob, carol] { #expect(try await person.join(hunt).status == 200) }
      let door = try await bob.store("door.jpg", in: "photos")
      let other = try await bob.store("other.jpg", in: "photos")
      #expect(try await !alice.mayRead(door))
      let id = bob.id.description
      try await bob.submit(hunt.checkpoints[0], photo: door.replacing(id, with: id.uppercased()))
      for person in [alice, bob, carol] { #expect(try await person.mayRead(door)) }
      #expect(try await !mallory.mayRead(door))
      // To name somebody else's photo is not to show it.
      try await carol.submit(hunt.checkpoints[0], photo: other)
      for person in [alice, carol] { #expect(try await !person.mayRead(other)) }
      // Who takes part no longer sees neither the submission nor its photo.
      #expect(try await carol.rest(.DELETE, "hunt_participants?hunt_id=eq.\(hunt.id)").status == 204)
      try await eventually("the end of carol's right") { try await !carol.mayRead(door) }
      #expect(try await alice.mayRead(door))
    }
  }

  @Test(arguments: engines) func whoIsRemovedFromTheGroupReadsItNoLonger(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let carol = try await stack.signIn("carol")
      let made = try await alice.browser.post("/api/groups", ["name": "Ours"])
      let id = (made["group"] as? [String: Any])?.text("id") ?? made.string("id")
      let group = try #require(GroupID(id))
      for person in [bob, carol] { try await stack.addMember(person, in: group, by: alice) }
      let hunt = try await alice.makeHunt(group: id)
      for person in [bob, carol] {
        try await eventually("the group") {
          try await person.rest(.POST, "scavenger_hunts/\(hunt.id)/join").status == 200
        }
      }
      let photo = try await bob.store("1.jpg", in: "photos")
      try await bob.submit(hunt.checkpoints[0], photo: photo)
      #expect(try await carol.mayRead(photo))
      #expect(try await alice.browser.delete("/api/groups/\(group)/members/\(carol.id)").status < 300)
      try await eventually("the end of carol's right") { try await !carol.mayRead(photo) }
    }
  }

  @Test(arguments: engines) func onlyGroupsAsksWhoSeesWhat(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let path = "/internal/adventures/shown-photo"
      let question = ["photo": "photos/\(alice.id)/1.jpg", "viewer": alice.id.description]
      let asked = try await stack.adventures.with(stack.with(key: "groups")).post(path, question)
      #expect(asked.status == 200 && asked.bool("is_shown") == false, "\(asked.text)")
      for key in ["auth", "lists", "plain", "gateway"] {
        #expect(try await stack.adventures.with(stack.with(key: key)).post(path, question).status == 403, "\(key)")
      }
      #expect(try await alice.browser.post(path, question).status == 404)
      for wrong in [["photo": "photos/../1.jpg"], ["viewer": "alice"]] {
        let reply = try await stack.adventures.with(stack.with(key: "groups"))
          .post(path, question.merging(wrong) { $1 })
        #expect(reply.status == 422, "\(reply.text)")
      }
    }
  }

  /// Alice is erased, and her hunt with the submissions of others, while groups is away.
  @Test(arguments: engines) func aPhotoIsDeletedWithTheLastSubmissionThatNamesIt(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let (carol, mallory) = (try await stack.signIn("carol"), try await stack.signIn("mallory"))
      let (hunt, other) = (try await alice.makeHunt(points: [1, 2, 3]), try await carol.makeHunt())
      for person in [bob, mallory] { #expect(try await person.join(hunt).status == 200) }
      #expect(try await bob.join(other).status == 200)
      let names = ["named.jpg", "named-twice.jpg", "named-by-mallory.jpg"]
      var photos: [String] = []
      for name in names { photos.append(try await bob.store(name, in: "photos")) }
      let avatar = try await bob.store("me.jpg", in: "avatars")
      try await bob.submit(hunt.checkpoints[0], photo: photos[0])
      try await bob.submit(hunt.checkpoints[1], photo: photos[1])
      try await bob.submit(hunt.checkpoints[2], photo: "public/" + avatar)
      try await bob.submit(other.checkpoints[0], photo: photos[1])
      try await mallory.submit(hunt.checkpoints[0], photo: photos[2])
      let elsewhere = #"{"checkpoint_id": "\#(hunt.checkpoints[1])", "photo_url": "https://x.example/1.jpg"}"#
      #expect(try await mallory.rest(.POST, "checkpoint_submissions", elsewhere).status == 201)

      let groups = stack.dependencies.serviceAddresses.urls(of: .groups)
      stack.dependencies.serviceAddresses.set(.groups, to: "http://127.0.0.1:1")
      let auth = stack.adventures.with(stack.with(key: "auth"))
      for _ in 0..<2 { #expect(try await auth.delete("/internal/users/\(alice.id)/data").status == 204) }
      try await eventually("a try") {
        try await stack.count("outbox where tries > 0 and due_at is not null", in: "adventures") == 1
      }
      stack.dependencies.serviceAddresses.set(.groups, to: groups)
      try await eventually("the delivery", passing: .seconds(2), on: stack.clock) {
        try await stack.count("outbox where lease is not null", in: "adventures")
      } _: {
        try await stack.count("outbox where outcome = 'done'", in: "adventures") == 1
      }
      #expect(try await stack.count("outbox", in: "adventures") == 1)
      #expect(try await !bob.mayRead(photos[0]))
      for kept in [photos[1], photos[2], avatar] { #expect(try await bob.mayRead(kept), "\(kept)") }
    }
  }

  @Test(arguments: engines) func submittingWhileTheHuntIsErasedLeavesNoPhoto(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let hunt = try await alice.makeHunt(points: Array(1...8))
      #expect(try await bob.join(hunt).status == 200)
      var photos: [String] = []
      for number in 1...8 { photos.append(try await bob.store("\(number).jpg", in: "photos")) }
      let auth = stack.adventures.with(stack.with(key: "auth"))
      let statuses = try await atOnce(9) { [photos] index in
        guard index < 8 else { return try await auth.delete("/internal/users/\(alice.id)/data").status }
        return try await bob.tryToSubmit(hunt.checkpoints[index], photo: photos[index]).status
      }
      #expect(statuses.contains(204))
      #expect(try await bob.rows("checkpoint_submissions").isEmpty)
      let refusedCount = statuses.count { $0 == 403 }
      #expect(refusedCount + statuses.count { $0 == 201 } == 8, "\(statuses)")
      try await eventually("the end of what was submitted") { stack.photoFiles.count == 2 * refusedCount }
    }
  }

  @Test(arguments: engines) func whoIsErasedLeavesNoPhoto(_ engine: Engine) async throws {
    try await withStack(engine, ["ACCOUNT_ERASE_AFTER_DAYS": "0"]) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let hunt = try await alice.makeHunt()
      #expect(try await bob.join(hunt).status == 200)
      let photo = try await bob.store("door.jpg", in: "photos")
      try await bob.submit(hunt.checkpoints[0], photo: photo)
      #expect(stack.photoFiles.count == 2)
      #expect(try await bob.browser.delete("/api/v1/auth/account").status == 200)
      try await eventually("the erasure") {
        try await stack.count("erasure where finished_at is not null", in: "auth") == 1
      }
      #expect(try await alice.rows("checkpoint_submissions").isEmpty)
      #expect(try await !alice.mayRead(photo))
      try await eventually("the end of the bytes") { stack.photoFiles.isEmpty }
    }
  }
}

/// On a developer's machine.
@Suite struct LocalSubmissionPhotoTests {
  @Test(arguments: engines) func aFileOfAServerWithoutTLSMayBeNamed(_ engine: Engine) async throws {
    try await withStack(engine, ["PUBLIC_URL": "http://127.0.0.1:8080/"]) { stack in
      let alice = try await stack.signIn("alice")
      let hunt = try await alice.makeHunt(points: [1, 2, 3])
      #expect(try await alice.join(hunt).status == 200)
      let photo = try await alice.store("door.jpg", in: "photos")
      for (number, (origin, status)) in [
        ("http://127.0.0.1:8080", 201), ("http://elsewhere.example", 400), ("https://elsewhere.example", 201),
      ].enumerated() {
        let url = "\(origin)/storage/v1/object/\(photo)"
        let row = #"{"checkpoint_id": "\#(hunt.checkpoints[number])", "photo_url": "\#(url)"}"#
        #expect(try await alice.rest(.POST, "checkpoint_submissions", row).status == status, "\(url)")
      }
    }
  }
}

extension SignedInUser {
  /// - Parameter photo: the name of a file with its bucket.
  fileprivate func submit(_ checkpoint: String, photo: String) async throws {
    let reply = try await tryToSubmit(checkpoint, photo: photo)
    guard reply.status == 201, reply.text.contains(photo), !reply.text.contains("photo_name") else {
      throw Unexpected(reply: "\(reply.status) \(reply.text)")
    }
  }

  fileprivate func tryToSubmit(_ checkpoint: String, photo: String) async throws -> Browser.Reply {
    let url = "https://kith.example/storage/v1/object/\(photo)?token=abc"
    return try await rest(
      .POST, "checkpoint_submissions", #"{"checkpoint_id": "\#(checkpoint)", "photo_url": "\#(url)"}"#)
  }
}
