import Foundation
import Support
import Testing
import Wire

@testable import Groups
@testable import Photos

/// Photos in an S3-compatible store.
@Suite(.enabled(if: Python.isAvailable, "PYTHON IS NOT THERE: storing photos in S3 was not tested")) struct S3Tests {
  private static let signer = S3Signer(
    accessKey: "AKIDEXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", region: "eu-north-1")

  /// Compares with botocore, which signs the same requests at the same time.
  @Test(arguments: [nil, "a/session+token=="]) func signaturesAreThoseOfTheReference(token: String?) async throws {
    var signer = Self.signer
    signer.sessionToken = token
    let now = try #require(RFC3339.parse("2026-11-21T08:05:09Z"))
    let key = "/photos/\(PhotoFileName(.new(at: now), .large).text)"
    let list = ["list-type": "2", "max-keys": "1000", "start-after": "a b/ü+~.jpg"]
    let request = { (method: String, path: String, query: [String: String]) in
      S3Signer.Request(method: method, host: "store.example:9000", path: path, query: query)
    }
    let put = signer.headers(
      request("PUT", key, [:]), adding: ["content-type": "image/jpeg"], body: Array("photo".utf8), at: now)
    let get = signer.headers(request("GET", "/photos", list), adding: ["range": "bytes=0-9"], body: [], at: now)
    let presigned = signer.presigned(request("PUT", key, [:]), at: now, seconds: 3600)
    let bounded = signer.presigned(request("PUT", key, [:]), bodyBytes: 4711, at: now, seconds: 900)

    let program = """
      import datetime
      import botocore.auth
      from urllib.parse import parse_qs, urlsplit
      from botocore.auth import S3SigV4Auth, S3SigV4QueryAuth
      from botocore.awsrequest import AWSRequest
      from botocore.credentials import Credentials
      botocore.auth.get_current_datetime = lambda *_, **__: datetime.datetime(2026, 11, 21, 8, 5, 9)
      token, key = sys.argv[1] or None, sys.argv[2]
      credentials = Credentials("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", token)
      base = "http://store.example:9000"
      put = AWSRequest("PUT", base + key, headers={"content-type": "image/jpeg"}, data=b"photo")
      S3SigV4Auth(credentials, "s3", "eu-north-1").add_auth(put)
      print(put.headers["Authorization"])
      get = AWSRequest("GET", base + "/photos", headers={"range": "bytes=0-9"},
        params={"list-type": "2", "max-keys": "1000", "start-after": "a b/\\u00fc+~.jpg"})
      S3SigV4Auth(credentials, "s3", "eu-north-1").add_auth(get)
      print(get.headers["Authorization"])
      link = AWSRequest("PUT", base + key)
      S3SigV4QueryAuth(credentials, "s3", "eu-north-1", expires=3600).add_auth(link)
      print(parse_qs(urlsplit(link.url).query)["X-Amz-Signature"][0])
      bounded = AWSRequest("PUT", base + key, headers={"content-length": "4711"})
      S3SigV4QueryAuth(credentials, "s3", "eu-north-1", expires=900).add_auth(bounded)
      print(parse_qs(urlsplit(bounded.url).query)["X-Amz-Signature"][0])
      """
    let printed = try await Python.run(program, arguments: [token ?? "", key]).split(separator: "\n").map(String.init)
    #expect(printed.first == put["authorization"])
    #expect(printed.dropFirst().first == get["authorization"])
    #expect(presigned.hasSuffix("&X-Amz-Signature=\(printed.dropFirst(2).first ?? "-")"))
    #expect(bounded.hasSuffix("&X-Amz-Signature=\(printed.last ?? "-")"))
  }

  /// An S3-compatible store (moto) on loopback, in a process of its own, with an empty bucket.
  private func withStore(_ body: (String) async throws -> Void) async throws {
    let port = try freePort()
    let python = try #require(ProcessInfo.processInfo.environment["KITH_TEST_PYTHON"])
    let log = FileManager.default.temporaryDirectory.appending(path: "kith-store-\(UUID()).log").path
    let program = "from moto.server import main; main(['-H', '127.0.0.1', '-p', '\(port)'])"
    let store = try ChildProcess([python, "-c", program], output: log)
    // `try?`: a log file that stays does no harm.
    defer { try? FileManager.default.removeItem(atPath: log) }
    let endpoint = "http://127.0.0.1:\(port)"
    do {
      try await eventually("the store; it printed: \(store.printed())", within: .seconds(240)) {
        do { return try await Browser(endpoint).get("/moto-api/").status == 200 } catch { return false }
      }
      let path = "/photos"
      let headers = Self.signer.headers(
        .init(method: "PUT", host: "127.0.0.1:\(port)", path: path),
        body: Array(Self.bucketConfiguration.utf8), at: Date())
      let created = try await Browser(endpoint).with(headers)
        .send(.PUT, path, body: Data(Self.bucketConfiguration.utf8))
      #expect(created.status == 200, "\(created.text)")
      try await body(endpoint)
    } catch {
      store.signal(SIGKILL)
      _ = await store.end()
      throw error
    }
    store.signal(SIGKILL)
    _ = await store.end()
  }

  private static let bucketConfiguration =
    "<CreateBucketConfiguration><LocationConstraint>eu-north-1</LocationConstraint></CreateBucketConfiguration>"

  private static func settings(_ endpoint: String) -> [String: String] {
    [
      "PHOTO_STORAGE": "s3://photos?endpoint=\(endpoint)&region=eu-north-1", "AWS_ACCESS_KEY_ID": signer.accessKey,
      "AWS_SECRET_ACCESS_KEY": signer.secret,
    ]
  }

  @Test func aBucketDoesWhatAFolderDoes() async throws {
    try await withStore { endpoint in
      let folder = FileManager.default.temporaryDirectory.appending(path: "kith-photos-\(UUID())").path
      let bucket = PhotoBucket(bucket: "photos", endpoint: endpoint, signer: Self.signer, logger: quiet)
      for files in [bucket, try PhotoFolder(folder)] as [any PhotoFiles] {
        let ids = (0..<3).map { PhotoID.new(at: Date(timeIntervalSince1970: 1_700_000_000 + Double($0) * 5000)) }
        let bytes = (0..<1_500_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        for id in ids {
          try await files.store(Array(bytes.prefix(1000)), as: PhotoFileName(id, .small))
          try await files.store(bytes, as: PhotoFileName(id, .large))
        }
        let name = PhotoFileName(ids[0], .large)
        for (range, expected) in [(nil, 0..<bytes.count), (.from(10, through: 1_200_000), 10..<1_200_001)]
          as [(ByteRange?, Range<Int>)]
        {
          let stored = try #require(try await files.read(name, range))
          #expect(stored.totalCount == bytes.count && stored.range == expected)
          #expect(try await stored.all() == Array(bytes[expected]))
        }
        await #expect(throws: RangeNotSatisfiable.self) {
          _ = try await files.read(name, .from(bytes.count, through: nil))
        }
        let nothing = try await files.read(PhotoFileName(ids[0], .original), nil)
        #expect(nothing == nil)

        var names: [PhotoFileName] = []
        while let page = try await files.list(after: names.last) as [PhotoFileName]?, !page.isEmpty { names += page }
        #expect(names == ids.flatMap { [PhotoFileName($0, .large), PhotoFileName($0, .small)] })
        try await files.delete([ids[0], ids[1]])
        try await files.delete([ids[1]])
        let left = try await files.list(after: nil)
        #expect(left.map(\.photo) == [ids[2], ids[2]])
        try await files.delete([ids[2]])
      }
      try FileManager.default.removeItem(atPath: folder)
    }
  }

  @Test func photosLiveAndEndInABucket() async throws {
    try await withStore { endpoint in
      try await withStack(.sqlite, Self.settings(endpoint)) { stack in
        let alice = try await stack.signIn("alice")
        let group = try await alice.group("Ours")
        let size = SamplePhotos.heicWithLocation.count
        let pendingUpload = try await alice.browser.post(
          "/api/photos/upload-url", ["group_id": group.description, "size": size])
        let url = pendingUpload.string("upload_url")
        #expect(url.hasPrefix("\(endpoint)/photos/") && url.contains("X-Amz-Expires=900&"))
        #expect(url.contains("X-Amz-SignedHeaders=content-length%3Bhost&"))
        #expect(try await Browser("").send(.PUT, url, body: SamplePhotos.heicWithLocation).status == 200)
        let confirmed = try await alice.browser.post(
          "/api/photos/confirm-upload", ["photo_id": pendingUpload.string("photo_id")])
        #expect(confirmed.status == 200)
        let other = try await alice.group("Others")
        #expect(try await alice.send(PNG.noise(1000, 800), to: other).status == 200)
        for id in [group, other] {
          let path = stack.path(try #require(try await alice.today(id).first)["url"])
          let whole = try await stack.gateway.get(path)
          #expect(whole.status == 200 && whole.body.starts(with: [0xFF, 0xD8, 0xFF]))
          let part = try await stack.gateway.with(["Range": "bytes=5-9"]).get(path)
          #expect(part.status == 206 && part.body == whole.body[5...9])
          #expect(try await stack.gateway.with(["Range": "bytes=9999999-"]).get(path).status == 416)
        }
        #expect(stack.photoFiles.isEmpty)

        let bucket = PhotoBucket(bucket: "photos", endpoint: endpoint, signer: Self.signer, logger: quiet)
        #expect(try await bucket.list(after: nil).count == 4)
        // The presigned URL still works after the photo was confirmed.
        #expect(try await Browser("").send(.PUT, url, body: SamplePhotos.heicWithLocation).status == 200)
        #expect(try await bucket.list(after: nil).count == 5)
        let (database, clock) = (try await stack.testDatabase.open("groups", []), stack.clock)
        try await PhotoSweep(
          store: PhotoSweepStore(database: database), files: bucket,
          local: PhotoFolder(stack.testDatabase.folder.appendingPathComponent("photos").path), logger: quiet,
          now: { clock.now }
        ).reconcile()
        await database.close()
        #expect(try await bucket.list(after: nil).allSatisfy { $0.kind != .original })
        #expect(try await bucket.list(after: nil).count == 4)
        stack.clock.advance(by: .seconds(48 * 3600))
        try await eventually("the end of the bytes") { try await bucket.list(after: nil).isEmpty }
      }
    }
  }

  /// A presigned URL without a size would have no limit, so such uploads go through the service.
  @Test func whatHasNoSizeIsSentToUsWhoStopInTime() async throws {
    try await withStore { endpoint in
      try await withStack(.sqlite, Self.settings(endpoint)) { stack in
        let alice = try await stack.signIn("alice")
        let group = try await alice.group("Ours")
        func createUploadURL(_ members: [String: any Sendable] = [:]) async throws -> Browser.Reply {
          let own: [String: any Sendable] = ["group_id": group.description]
          return try await alice.browser.post("/api/photos/upload-url", own.merging(members) { $1 })
        }
        for name in ["size", "content_length"] {
          let tooLarge = try await createUploadURL([name: 10 * 1024 * 1024 + 1])
          #expect(tooLarge.status == 413)
          let none = try await createUploadURL([name: 0])
          #expect(none.status == 422 && (none["errors"] as? [[String: String]])?.first?["field"] == name)
          #expect(try await createUploadURL([name: 10 * 1024 * 1024]).string("upload_url").hasPrefix(endpoint))
        }
        let pendingUpload = try await createUploadURL()
        let path = stack.path(pendingUpload.string("upload_url"))
        #expect(path.hasPrefix("/api/photos/"))
        // Not by `Browser`: what it sends at once breaks when a response comes before its end.
        let tooMuch = try await RawConnection(to: stack.gateway)
        try await tooMuch.send("PUT \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: \(10 * 1024 * 1024 + 1)\r\n\r\n")
        try await eventually("a refusal") { try await tooMuch.received().hasPrefix("HTTP/1.1 413 ") }
        tooMuch.close()
        let stored = try await stack.gateway.send(.PUT, path, body: SamplePhotos.heicWithLocation)
        #expect(stored.status == 200, "\(stored.text)")
        let confirmed = try await alice.browser.post(
          "/api/photos/confirm-upload", ["photo_id": pendingUpload.string("photo_id")])
        #expect(confirmed.status == 200)
        #expect(try await alice.today(group).count == 1)
      }
    }
  }

  @Test func aStoreThatIsGoneIsNoPhotoLost() async throws {
    try await withStack(.sqlite, Self.settings("http://127.0.0.1:\(try freePort())")) { stack in
      let alice = try await stack.signIn("alice")
      let group = try await alice.group("Ours")
      let refused = try await alice.send(SamplePhotos.jpeg, to: group)
      #expect(refused.status == 503 && refused.headers.contains(name: "retry-after"))
      #expect(try await alice.today(group).isEmpty)
    }
  }
}

extension StoredBytes {
  fileprivate func all() async throws -> [UInt8] {
    var all: [UInt8] = []
    switch content {
    case .buffer(let buffer): all = Array(buffer.readableBytesView)
    case .chunks(let forEachChunk): try await forEachChunk { all += Array($0.readableBytesView) }
    }
    return all
  }
}
