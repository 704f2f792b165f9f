import Database
import Foundation
import Outbox
import Support
import Testing
import Tokens
import Web
import Wire

@testable import Groups
@testable import Photos

/// Uploads in one request, and what is refused.
@Suite struct PhotoUploadTests {
  @Test(arguments: engines) func membersSeeTheDaysPhotosAndStrangersNothing(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("Alice"), try await stack.signIn("bob"))
      let group = try await alice.group("Ours")
      #expect(try await alice.today(group).isEmpty)
      let sent = try await alice.send(SamplePhotos.jpeg, to: group)
      #expect(sent.status == 200)
      let photo = try #require(try await alice.today(group).first)
      #expect(photo["id"] as? String == sent.string("photo_id"))
      #expect(photo["group_id"] as? String == group.description)
      #expect(photo["sender_id"] as? String == alice.id.description)
      #expect(photo["sender_name"] as? String == "Alice")
      #expect(photo["expires_at"] as? String == sent.string("expires_at"))
      let times = ["created_at", "expires_at"].compactMap { (photo[$0] as? String).flatMap(RFC3339.parse) }
      #expect(times.count == 2 && times[1].timeIntervalSince(times[0]) == 48 * 60 * 60)
      #expect(try await alice.browser.get("/api/groups/\(group)/daily-status").bool("has_sent_today") == true)
      let one = try await alice.browser.get("/api/photos/\(sent.string("photo_id"))/")
      #expect(one.string("url") == photo["url"] as? String)

      for path in ["\(group)/today", "\(GroupID.new(at: Date()))/today", "nothing/today"] {
        let refusal = try await bob.browser.get("/api/photos/\(path)")
        #expect(refusal.status == 403 && refusal.string("detail") == "Not a member of this group")
      }
      #expect(try await bob.browser.get("/api/photos/\(sent.string("photo_id"))").status == 404)
      #expect(try await bob.send(SamplePhotos.jpeg, to: group).status == 403)
      #expect(try await stack.gateway.get("/api/photos/\(group)/today").status == 401)
    }
  }

  @Test(arguments: engines) func ofTwentyAtOnceOneIsThePhotoOfTheDay(engine: Engine) async throws {
    try await withStack(engine, ["RATE_LIMIT_UPLOAD": "1000000"]) { stack in
      let alice = try await stack.signIn("alice")
      let group = try await alice.group("Ours")
      let answers = try await atOnce(20) { _ in try await alice.send(SamplePhotos.jpeg, to: group) }
      #expect(answers.filter { $0.status == 200 }.count == 1)
      let refused = answers.filter { $0.status == 400 && $0.string("code") == "already_sent_today" }
      #expect(refused.count == 19)
      let photos = try await alice.today(group)
      #expect(photos.map { $0["id"] as? String } == [answers.first { $0.status == 200 }?.string("photo_id")])
      #expect(stack.photoFiles.count == 2)
      // Another group has a day of its own.
      #expect(try await alice.send(SamplePhotos.jpeg, to: alice.group("Others")).status == 200)
    }
  }

  @Test(arguments: engines) func theSameUploadUnderTheSameKeyIsTheSamePhoto(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let group = try await alice.group("Ours")
      func send(_ photo: Data) async throws -> Browser.Reply {
        let (body, type) = MultipartForm.body(photo, group: group.description)
        return try await alice.browser.with(["Content-Type": type, "Idempotency-Key": "morning"])
          .send(.POST, "/api/photos/upload", body: body)
      }
      let (first, second) = (try await send(SamplePhotos.jpeg), try await send(SamplePhotos.jpeg))
      #expect(first.status == 200 && second.body == first.body)
      #expect(second.headers.contains(name: "idempotency-hit"))
      #expect(try await send(SamplePhotos.turnedJPEG).status == 422)
      #expect(try await alice.today(group).count == 1)
    }
  }

  /// The row and the files are deleted, as by the sweep, before the renditions are stored.
  @Test(arguments: engines) func whatIsConfirmedAfterItsEndLeavesNoBytes(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let group = try await alice.group("Ours")
      let (database, keys) = (try await stack.testDatabase.open("groups", []), try #require(DataKeys(["a key"])))
      let folder = try PhotoFolder(stack.testDatabase.folder.appendingPathComponent("photos").path)
      let body = ["group_id": group.description, "content_type": "image/jpeg"]
      let photoID = try await alice.browser.post("/api/photos/upload-url", body).string("photo_id")
      let id = try #require(PhotoID(photoID))
      try await folder.store(Array(SamplePhotos.jpeg), as: PhotoFileName(id, .original))
      let ending = InterceptedPhotoFiles(base: folder) {
        try await database.write { db in _ = try db.change("delete from photo where id = \(id)") }
        try await folder.delete([id])
      }
      await #expect(throws: Failure.self) {
        try await PhotoUploadPipeline(ending, folder, database, keys, stack).confirm(id, by: alice.id)
      }
      #expect(stack.photoFiles.isEmpty)
      await database.close()
    }
  }

  /// The refusal is thrown as an error or, with an idempotency key, stored and returned as a reply.
  @Test(arguments: engines, [nil, "morning"] as [String?])
  func whoLeavesWhileTheirPhotoIsLookedAtLeavesNoBytes(engine: Engine, key: String?) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let group = try await alice.group("Ours")
      try await stack.addMember(bob, in: group, by: alice)
      let (database, keys) = (try await stack.testDatabase.open("groups", []), try #require(DataKeys(["a key"])))
      let folder = try PhotoFolder(stack.testDatabase.folder.appendingPathComponent("photos").path)
      let leaving = InterceptedPhotoFiles(base: folder) {
        _ = try await bob.browser.delete("/api/groups/\(group)")
      }
      let pipeline = PhotoUploadPipeline(leaving, folder, database, keys, stack)
      func send() async throws -> Int {
        let file = try UploadedFile(in: folder.incoming)
        try await file.append(.init(bytes: SamplePhotos.jpeg))
        let call = key.map {
          IdempotentCall(
            caller: bob.id.description, route: "POST /", key: $0, path: "/api/photos", content: Data(), requestID: "")
        }
        do {
          let upload = PhotoUpload(file: file, group: group, fingerprint: Data())
          return try await pipeline.send(upload, by: bob.id, call).status
        } catch let failure as Failure where failure == .notInGroup { return 403 }
      }
      #expect(try await send() == 403)
      #expect(stack.photoFiles.isEmpty)
      #expect(try await send() == 403)
      #expect(try await alice.today(group).isEmpty)
      await database.close()
    }
  }

  @Test func aBareBodyWillDo() async throws {
    try await withStack(.sqlite) { stack in
      let alice = try await stack.signIn("alice")
      let group = try await alice.group("Ours")
      let browser = alice.browser.with(["Content-Type": "image/heic"])
      let nowhere = try await browser.send(.POST, "/api/photos/upload", body: SamplePhotos.heicWithLocation)
      #expect(nowhere.status == 422 && nowhere.string("detail") == "group_id is required")
      let path = "/api/photos/upload?group_id=\(group)"
      #expect(try await browser.send(.POST, path, body: Data()).status == 422)
      #expect(try await browser.send(.POST, path, body: SamplePhotos.heicWithLocation).status == 200)
    }
  }

  private static let noPhotos: [(Data, Int)] = [
    (Data("GIF89a, and what follows".utf8), 415), (SamplePhotos.avif, 415), (Data("<svg/>".utf8), 415),
    (Data("%PDF-1.7".utf8), 415), (SamplePhotos.jpeg.dropLast(200), 422),
    (SamplePhotos.heicWithLocation.dropLast(300), 422),
    (Data([0xFF, 0xD8, 0xFF]) + Data("nothing".utf8), 422), (PNG.noise(40, 30).dropLast(1000), 422),
    (Data(), 422),
  ]

  @Test(arguments: noPhotos) func whatIsNoPhotoIsRefusedByItsBytes(bytes: Data, status: Int) async throws {
    try await withStack(.sqlite) { stack in
      let alice = try await stack.signIn("alice")
      let group = try await alice.group("Ours")
      #expect(try await alice.send(bytes, to: group).status == status)
      #expect(stack.photoFiles.isEmpty)
      #expect(try await alice.today(group).isEmpty)
      // The file name does not matter.
      #expect(try await alice.send(PNG.noise(40, 30), to: group, named: "photo.gif").status == 200)
    }
  }

  @Test func whatIsTooLargeIsRefusedWhileItArrives() async throws {
    try await withStack(.sqlite) { stack in
      let alice = try await stack.signIn("alice")
      let group = try await alice.group("Ours")
      let (form, type) = MultipartForm.body(Data(), group: group.description)
      let address = try await alice.browser.post("/api/photos/upload-url", ["group_id": group.description])
      // The end of the form is never sent.
      let opening = form.dropLast(Data("\r\n--Boundary-7E1F9D--\r\n".utf8).count)
      for (line, type, opening) in [
        ("POST /api/photos/upload", type, opening), ("POST /api/photos/upload?group_id=\(group)", "image/jpeg", Data()),
        ("PUT \(stack.path(address.string("upload_url")))", "image/jpeg", Data()),
      ] {
        let head = "\(line) HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(alice.access)\r\nContent-Type: \(type)\r\n"
        let answer = try await answer(to: head, opening, from: stack)
        #expect(answer.hasPrefix("HTTP/1.1 413 ") && answer.contains("photo_too_large"), "\(line)")
      }

      let connection = try await RawConnection(to: stack.groups)
      defer { connection.close() }
      let length = "Content-Type: \(type)\r\nContent-Length: 11500000\r\n\r\n"
      let intent = "POST /api/photos/upload HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(alice.access)\r\n"
      try await connection.send(intent + length)
      var refusal = ""
      try await eventually("413 before anything has come") {
        refusal = try await connection.received()
        return refusal.contains("\r\n")
      }
      #expect(refusal.hasPrefix("HTTP/1.1 413 "))
      #expect(stack.photoFiles.isEmpty)
    }
  }

  /// The response to a chunked body of more than ten megabytes that does not end. Checks that there is none before
  /// that.
  private func answer(to head: String, _ opening: Data, from stack: TestStack) async throws -> String {
    let connection = try await RawConnection(to: stack.groups)
    defer { connection.close() }
    try await connection.send("\(head)Transfer-Encoding: chunked\r\n\r\n")
    if !opening.isEmpty {
      try await connection.send(Data("\(String(opening.count, radix: 16))\r\n".utf8) + opening + Data("\r\n".utf8))
    }
    let piece = Data("10000\r\n".utf8) + Data(repeating: 7, count: 65_536) + Data("\r\n".utf8)
    for _ in 0..<160 {
      #expect(try await connection.received() == "")
      try await connection.send(piece)
    }
    var answer = ""
    try await eventually("413") {
      // `try?`: the service may close once it has responded.
      try? await connection.send(piece)
      answer = try await connection.received()
      return answer.contains("}")
    }
    return answer
  }

  @Test func anUploadThatIsCutOffLeavesNothing() async throws {
    try await withStack(.sqlite) { stack in
      let alice = try await stack.signIn("alice")
      let group = try await alice.group("Ours")
      let photo = PNG.noise(400, 300)
      let (form, type) = MultipartForm.body(photo, group: group.description)
      for (target, type, body) in [
        ("/api/photos/upload", type, form), ("/api/photos/upload?group_id=\(group)", "image/png", photo),
      ] {
        for framing in ["Content-Length: \(body.count)", "Transfer-Encoding: chunked"] {
          let connection = try await RawConnection(to: stack.groups)
          defer { connection.close() }
          let head = """
            POST \(target) HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(alice.access)\r
            Content-Type: \(type)\r\n\(framing)\r\n\r\n
            """
          let chunk = framing.hasPrefix("T") ? "\(String(body.count, radix: 16))\r\n" : ""
          // All but the last bytes, without which most decoders still succeed.
          try await connection.send(Data(head.utf8) + Data(chunk.utf8) + body.dropLast(20))
        }
      }
      try await Task.sleep(for: .milliseconds(500))
      #expect(stack.photoFiles.isEmpty)
      #expect(try await alice.today(group).isEmpty)
      #expect(try await alice.send(photo, to: group).status == 200)
    }
  }

  @Test func formsThatMakeNoSenseAreRefused() async throws {
    try await withStack(.sqlite) { stack in
      let alice = try await stack.signIn("alice")
      let group = try await alice.group("Ours")
      let (good, type) = MultipartForm.body(SamplePhotos.jpeg, group: group.description)
      let twice = good.dropLast(4) + Data("\r\n".utf8) + good.dropFirst(0)
      for (body, type, status) in [
        (good, "multipart/form-data", 400), (good, "multipart/mixed; boundary=Boundary-7E1F9D", 400),
        (Data("nothing".utf8), type, 400), (good.dropLast(10), type, 400), (twice, type, 422),
        (MultipartForm.body(SamplePhotos.jpeg, group: "mine").0, type, 422),
        (MultipartForm.body(SamplePhotos.jpeg, group: "").0, type, 422),
      ] {
        let reply = try await alice.browser.with(["Content-Type": type]).send(.POST, "/api/photos/upload", body: body)
        #expect(reply.status == status, "\(reply.text)")
      }
      #expect(stack.photoFiles.isEmpty)
    }
  }
}

extension PhotoUploadPipeline {
  fileprivate init(
    _ files: any PhotoFiles, _ folder: PhotoFolder, _ database: any Database, _ keys: DataKeys, _ stack: TestStack
  ) {
    let clock = stack.clock
    self.init(
      store: PhotoStore(database: database, photoAccess: PhotoAccessCache()), files: files, local: folder,
      renderer: PhotoRenderer(), idempotency: Idempotency(database: database, keys: keys, now: { clock.now }),
      notifications: FirstPhotoNotifications(
        outbox: Outbox(database: database, keys: keys, in: stack.dependencies, deliveries: []), isEnabled: false),
      now: { clock.now })
  }
}
