import Database
import Foundation
import Support
import Testing
import Wire

/// Avatars that are files of their users, which groups stores.
@Suite struct AvatarFileTests {
  private func url(_ path: String) -> String { "https://kith.example/storage/v1/object/public/\(path)" }

  /// - Parameter url: the empty text removes the avatar.
  private func setAvatar(of user: SignedInUser, to url: String) async throws {
    let reply = try await user.browser.send(.PATCH, "/api/v1/users/profile", json: ["avatar_url": url])
    guard reply.status == 200 else { throw Unexpected(reply: reply.text) }
  }

  private func delivered(_ stack: TestStack) async throws -> Int {
    try await stack.count("outbox where kind = 'avatar_replaced' and outcome = 'done'", in: "auth")
  }

  @Test(arguments: engines) func theFileOfAReplacedAvatarIsDeleted(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let (first, second) = (
        try await alice.store("1.jpg", in: "avatars"), try await alice.store("2.jpg", in: "avatars")
      )
      let (bobs, photo) = (try await bob.store("me.jpg", in: "avatars"), try await alice.store("1.jpg", in: "photos"))
      // Neither the same file under another URL, nor what is not her avatar's file, is deleted.
      for avatar in [url(bobs), url(photo), "https://example.com/a.png", url(first), url(first) + "?v=2"] {
        try await setAvatar(of: alice, to: avatar)
      }
      let named = try await alice.browser.send(
        .PATCH, "/api/v1/users/profile", json: ["name": "Alice", "locale": "en"])
      #expect(named.status == 200)
      #expect(try await stack.count("outbox where kind = 'avatar_replaced'", in: "auth") == 0)
      // As a row of a table: replaced, then removed.
      let row = "/rest/v1/users?id=eq.\(alice.id)"
      #expect(try await alice.browser.send(.PATCH, row, json: ["avatar_url": url(second)]).status == 200)
      try await eventually("the end of the first") { try await !alice.mayRead(first) }
      #expect(try await alice.mayRead(second))
      #expect(try await alice.browser.send(.PATCH, row, body: Data(#"{"avatar_url":null}"#.utf8)).status == 200)
      try await eventually("the end of the second") { try await !alice.mayRead(second) }
      for kept in [bobs, photo] { #expect(try await alice.mayRead(kept)) }
      try await eventually("the end of the bytes") { stack.photoFiles.count == 4 }
    }
  }

  @Test(arguments: engines) func itIsDeletedLaterUnlessItIsTheAvatarAgain(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let (first, second) = (
        try await alice.store("1.jpg", in: "avatars"), try await alice.store("2.jpg", in: "avatars")
      )
      let groups = stack.dependencies.serviceAddresses.urls(of: .groups)
      stack.dependencies.serviceAddresses.set(.groups, to: "http://127.0.0.1:1")
      for avatar in [first, second] { try await setAvatar(of: alice, to: url(avatar)) }
      try await eventually("a try") {
        try await stack.count("outbox where kind = 'avatar_replaced' and tries > 0", in: "auth") == 1
      }
      try await setAvatar(of: alice, to: url(first))
      stack.dependencies.serviceAddresses.set(.groups, to: groups)
      try await eventually("the deliveries", passing: .seconds(2), on: stack.clock) {
        try await stack.count("outbox where lease is not null", in: "auth")
      } _: {
        try await delivered(stack) == 2
      }
      #expect(try await alice.mayRead(first))
      #expect(try await !alice.mayRead(second))
    }
  }

  @Test(arguments: engines) func whoIsErasedLeavesNoAvatar(engine: Engine) async throws {
    try await withStack(engine, ["ACCOUNT_ERASE_AFTER_DAYS": "0"]) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let (mine, bobs) = (try await alice.store("me.jpg", in: "avatars"), try await bob.store("me.jpg", in: "avatars"))
      for (user, avatar) in [(alice, mine), (bob, bobs)] { try await setAvatar(of: user, to: url(avatar)) }
      #expect(try await alice.browser.delete("/api/v1/auth/account").status == 200)
      try await eventually("the erasure") {
        try await stack.count("erasure where finished_at is not null", in: "auth") == 1
      }
      #expect(try await !bob.mayRead(mine))
      #expect(try await bob.mayRead(bobs))
      try await eventually("the end of the bytes") { stack.photoFiles.count == 2 }
    }
  }
}
