import Database
import Foundation
import Support
import Testing
import Wire

/// Photos that are sent to an address of their own, and confirmed.
@Suite struct AnnouncedPhotoTests {
  private func announce(_ user: SignedInUser, _ group: GroupID) async throws -> (id: String, url: String) {
    let reply = try await user.browser.post("/api/photos/upload-url", ["group_id": group.description])
    guard reply.status == 200 else { throw Unexpected(reply: reply.text) }
    #expect(reply.string("storage_path").hasPrefix(reply.string("photo_id")))
    return (reply.string("photo_id"), reply.string("upload_url"))
  }

  private func confirm(_ user: SignedInUser, _ id: String) async throws -> Browser.Reply {
    try await user.browser.post("/api/photos/confirm-upload", ["photo_id": id])
  }

  @Test(arguments: engines) func anAnnouncedPhotoIsSeenOnceItIsConfirmed(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let group = try await alice.group("Ours")
      try await stack.seat(bob, in: group, by: alice)
      let (id, url) = try await announce(alice, group)
      let nothing = try await confirm(alice, id)
      #expect(nothing.status == 400 && nothing.string("code") == "nothing_uploaded")
      #expect(try await stack.gateway.send(.PUT, stack.path(url), body: Data("no photo".utf8)).status == 415)
      #expect(try await stack.gateway.send(.PUT, stack.path(url), body: Pictures.jpeg.dropLast(200)).status == 200)
      #expect(try await confirm(alice, id).status == 422)
      let tampered = stack.path(url).replacing("signature=", with: "signature=A")
      #expect(try await stack.gateway.send(.PUT, tampered, body: Pictures.jpeg).status == 403)
      #expect(try await stack.gateway.send(.PUT, stack.path(url), body: Pictures.jpegWithPlace).status == 200)
      #expect(try await alice.today(group).isEmpty)
      #expect(try await alice.browser.get("/api/photos/\(id)").status == 404)
      #expect(try await confirm(bob, id).status == 404)

      let confirmed = try await atOnce(10) { _ in try await confirm(alice, id).status }
      #expect(confirmed.allSatisfy { $0 == 200 })
      let photo = try #require(try await bob.today(group).first)
      #expect(photo["id"] as? String == id)
      let served = try await stack.gateway.get(stack.path(photo["url"]))
      #expect(served.status == 200 && Pictures.secrets.allSatisfy { served.body.range(of: $0) == nil })
      // The original is not kept.
      #expect(stack.photoFiles.count == 2)
      #expect(try await stack.gateway.send(.PUT, stack.path(url), body: Pictures.jpeg).status == 400)
      let again = try await alice.browser.post("/api/photos/upload-url", ["group_id": group.description])
      #expect(again.status == 400 && again.string("code") == "already_sent_today")
      let strange = try await stack.signIn("carol").browser
        .post("/api/photos/upload-url", ["group_id": group.description])
      #expect(strange.status == 403)
    }
  }

  @Test(arguments: engines) func ofSeveralWaysOneIsThePhotoOfTheDay(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let group = try await alice.group("Ours")
      let first = try await announce(alice, group)
      let second = try await announce(alice, group)
      // Who announces another takes the first back.
      #expect(try await stack.gateway.send(.PUT, stack.path(first.url), body: Pictures.jpeg).status == 410)
      #expect(try await stack.gateway.send(.PUT, stack.path(second.url), body: Pictures.jpeg).status == 200)
      #expect(try await alice.send(Pictures.jpeg, to: group).status == 200)
      let late = try await confirm(alice, second.id)
      #expect(late.status == 400 && late.string("code") == "already_sent_today")
      #expect(try await alice.today(group).count == 1)
      // What was sent for nothing goes when it would have had to be confirmed.
      stack.clock.advance(by: .seconds(71 * 60))
      try await eventually("the end of the bytes") { stack.photoFiles.count == 2 }
    }
  }

  @Test func formsOfBothKindsConfirm() async throws {
    try await withStack(.sqlite) { stack in
      let alice = try await stack.signIn("alice")
      for (type, before, after) in [
        ("application/x-www-form-urlencoded", "group_id=x&photo_id=", "&a=b"),
        (
          "multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"photo_id\"\r\n\r\n",
          "\r\n--x--\r\n"
        ),
      ] {
        let group = try await alice.group("Ours")
        let (id, url) = try await announce(alice, group)
        #expect(try await stack.gateway.send(.PUT, stack.path(url), body: Pictures.jpeg).status == 200)
        let browser = alice.browser.with(["Content-Type": type])
        for (text, status) in [("", 422), ("nonsense", 422), (id, 200)] {
          let body = Data((before + text + after).utf8)
          #expect(try await browser.send(.POST, "/api/photos/confirm-upload", body: body).status == status)
        }
        #expect(try await alice.today(group).count == 1)
      }
    }
  }
}
