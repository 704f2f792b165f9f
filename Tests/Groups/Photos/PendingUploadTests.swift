import Database
import Foundation
import Support
import Testing
import Wire

/// Photos that are uploaded to an upload URL and then confirmed.
@Suite struct PendingUploadTests {
  private func createUploadURL(_ user: SignedInUser, _ group: GroupID) async throws -> (id: String, url: String) {
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
      try await stack.addMember(bob, in: group, by: alice)
      let (id, url) = try await createUploadURL(alice, group)
      let nothing = try await confirm(alice, id)
      #expect(nothing.status == 400 && nothing.string("code") == "nothing_uploaded")
      #expect(try await stack.gateway.send(.PUT, stack.path(url), body: Data("no photo".utf8)).status == 415)
      #expect(try await stack.gateway.send(.PUT, stack.path(url), body: SamplePhotos.jpeg.dropLast(200)).status == 200)
      #expect(try await confirm(alice, id).status == 422)
      let tampered = stack.path(url).replacing("signature=", with: "signature=A")
      #expect(try await stack.gateway.send(.PUT, tampered, body: SamplePhotos.jpeg).status == 403)
      #expect(try await stack.gateway.send(.PUT, stack.path(url), body: SamplePhotos.jpegWithLocation).status == 200)
      #expect(try await alice.today(group).isEmpty)
      #expect(try await alice.browser.get("/api/photos/\(id)").status == 404)
      #expect(try await confirm(bob, id).status == 404)

      let confirmed = try await atOnce(10) { _ in try await confirm(alice, id).status }
      #expect(confirmed.allSatisfy { $0 == 200 })
      let photo = try #require(try await bob.today(group).first)
      #expect(photo["id"] as? String == id)
      let served = try await stack.gateway.get(stack.path(photo["url"]))
      #expect(served.status == 200 && SamplePhotos.secrets.allSatisfy { served.body.range(of: $0) == nil })
      // The original is deleted.
      #expect(stack.photoFiles.count == 2)
      #expect(try await stack.gateway.send(.PUT, stack.path(url), body: SamplePhotos.jpeg).status == 400)
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
      let first = try await createUploadURL(alice, group)
      let second = try await createUploadURL(alice, group)
      // A new upload URL ends the previous pending upload.
      #expect(try await stack.gateway.send(.PUT, stack.path(first.url), body: SamplePhotos.jpeg).status == 410)
      #expect(try await stack.gateway.send(.PUT, stack.path(second.url), body: SamplePhotos.jpeg).status == 200)
      #expect(try await alice.send(SamplePhotos.jpeg, to: group).status == 200)
      let late = try await confirm(alice, second.id)
      #expect(late.status == 400 && late.string("code") == "already_sent_today")
      #expect(try await alice.today(group).count == 1)
      // The unconfirmed original is deleted after its time.
      stack.clock.advance(by: .seconds(71 * 60))
      try await eventually("the end of the bytes") { stack.photoFiles.count == 2 }
    }
  }

  @Test(arguments: engines) func theSameAnnouncementUnderTheSameKeyIsTheSameAddress(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let (group, other) = (try await alice.group("Ours"), try await alice.group("Others"))
      @Sendable func createUploadURL(_ key: String, _ group: GroupID) async throws -> Browser.Reply {
        try await alice.browser.with(["Idempotency-Key": key])
          .post("/api/photos/upload-url", ["group_id": group.description])
      }
      let replies = try await atOnce(10) { _ in try await createUploadURL("morning", group) }
      #expect(Set(replies.map(\.status)).isSubset(of: [200, 409]))
      let first = try await createUploadURL("morning", group)
      #expect(first.status == 200 && first.headers.contains(name: "idempotency-hit"))
      #expect(replies.allSatisfy { $0.status != 200 || $0.body == first.body })
      // The repetition has not ended the pending upload.
      let path = stack.path(first.string("upload_url"))
      #expect(try await stack.gateway.send(.PUT, path, body: SamplePhotos.jpeg).status == 200)
      #expect(try await confirm(alice, first.string("photo_id")).status == 200)
      #expect(try await createUploadURL("morning", group).body == first.body)
      #expect(try await createUploadURL("morning", other).status == 422)
      #expect(try await createUploadURL("evening", group).status == 400)
      #expect(try await createUploadURL("a key with blanks", group).status == 400)
    }
  }

  @Test(arguments: engines) func anAddressLivesAQuarterOfAnHour(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let (group, other) = (try await alice.group("Ours"), try await alice.group("Others"))
      let (sent, unsent) = (try await createUploadURL(alice, group), try await createUploadURL(alice, other))
      stack.clock.advance(by: .seconds(14 * 60))
      #expect(try await stack.gateway.send(.PUT, stack.path(sent.url), body: SamplePhotos.jpeg).status == 200)
      stack.clock.advance(by: .seconds(2 * 60))
      let late = try await stack.gateway.send(.PUT, stack.path(unsent.url), body: SamplePhotos.jpeg)
      #expect(late.status == 410 && late.string("code") == "link_expired")
      // An original that was uploaded in time can still be confirmed.
      stack.clock.advance(by: .seconds(40 * 60))
      #expect(try await confirm(stack.signIn("alice"), sent.id).status == 200)
    }
  }

  @Test(arguments: engines) func anAnnouncedPhotoIsAsSmallAsAnyOther(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let group = try await alice.group("Ours")
      let (id, url) = try await createUploadURL(alice, group)
      let bytesMax = 10 * 1024 * 1024
      let connection = try await RawConnection(to: stack.gateway)
      defer { connection.close() }
      let head = "PUT \(stack.path(url)) HTTP/1.1\r\nHost: a\r\nContent-Length: \(bytesMax + 1)\r\n\r\n"
      try await connection.send(head)
      var refused = ""
      try await eventually("413 before anything has come") {
        refused = try await connection.received()
        return refused.contains("}")
      }
      #expect(refused.hasPrefix("HTTP/1.1 413 ") && refused.contains("photo_too_large"))
      #expect(stack.photoFiles.isEmpty)
      // Its header declares 81 megapixels.
      let huge = try #require(SamplePhotos.huge)
      #expect(try await stack.gateway.send(.PUT, stack.path(url), body: huge).status == 200)
      let many = try await confirm(alice, id)
      #expect(many.status == 422 && many.string("code") == "photo_too_many_pixels")
      #expect(stack.photoFiles.isEmpty)
      #expect(try await alice.today(group).isEmpty)
      let heavy = SamplePhotos.jpeg + Data(count: bytesMax - SamplePhotos.jpeg.count)
      #expect(try await stack.gateway.send(.PUT, stack.path(url), body: heavy).status == 200)
      #expect(try await confirm(alice, id).status == 200)
    }
  }

  /// An upload may take minutes; meanwhile another original may be confirmed or the pending upload replaced.
  @Test(arguments: engines) func whatComesTooLateIsNotKept(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let (group, other) = (try await alice.group("Ours"), try await alice.group("Others"))
      let (first, second) = (try await createUploadURL(alice, group), try await createUploadURL(alice, other))
      func begin(_ url: String) async throws -> RawConnection {
        let connection = try await RawConnection(to: stack.groups)
        let head = "PUT \(stack.path(url)) HTTP/1.1\r\nHost: a\r\nContent-Length: \(SamplePhotos.jpeg.count)\r\n\r\n"
        try await connection.send(Data(head.utf8) + SamplePhotos.jpeg.prefix(100))
        return connection
      }
      let slow = [try await begin(first.url), try await begin(second.url)]
      defer { for connection in slow { connection.close() } }
      // Both requests have passed the check for a pending upload by then.
      try await Task.sleep(for: .milliseconds(500))
      #expect(try await stack.gateway.send(.PUT, stack.path(first.url), body: SamplePhotos.jpeg).status == 200)
      #expect(try await confirm(alice, first.id).status == 200)
      _ = try await createUploadURL(alice, other)
      // Gone also when the row of the replaced upload has been deleted already.
      for (connection, status) in zip(slow, ["400", "410"]) {
        try await connection.send(SamplePhotos.jpeg.dropFirst(100))
        var answer = ""
        try await eventually("an answer") {
          answer = try await connection.received()
          return answer.contains("\r\n")
        }
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
      }
      #expect(stack.photoFiles.count == 2 && stack.photoFiles.allSatisfy { !$0.hasSuffix("upload") })
      #expect(try await alice.today(group).count == 1)
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
        let (id, url) = try await createUploadURL(alice, group)
        #expect(try await stack.gateway.send(.PUT, stack.path(url), body: SamplePhotos.jpeg).status == 200)
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
