import Database
import Foundation
import Support
import Synchronization
import Testing

@testable import KithClient

/// Photos that are sent later, and links that have ended, against the real server.
@Suite struct PhotoQueueTests {
  private static func folder() -> URL {
    FileManager.default.temporaryDirectory.appendingPathComponent("kith-\(UUID().uuidString)")
  }

  @Test(arguments: engines) func aPhotoOfTheCameraIsSentOnceAfterARestart(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let transport = LosingTransport(losesFirstOf: "/api/photos/upload")
      let phone = try stack.kithClient(attemptsMax: 1, transport: transport)
      try await phone.auth.signUp(email: "alice@example.com", password: "correct horse", name: "Alice")
      let group = try await phone.groups.create(name: "Us", timeZone: .gmt)
      let folder = Self.folder()
      let camera = folder.appendingPathComponent("IMG_1.HEIC")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try SamplePhotos.heicWithLocation.write(to: camera)

      let first = PhotoUploads(client: phone, folder: folder.appendingPathComponent("queue"))
      try await first.add(.file(camera), to: group)
      try FileManager.default.removeItem(at: camera)
      await #expect(throws: KithFailure.self) { try await first.send() }
      #expect(transport.lost == 1)
      #expect(await first.uploads.map(\.status) == [.waiting])

      let second = PhotoUploads(client: phone, folder: folder.appendingPathComponent("queue"))
      try await second.add(.data(SamplePhotos.jpeg), to: group)
      try await second.send()
      let photos = try await phone.photos.today(in: group)
      #expect(photos.count == 1)
      let statuses = await second.uploads.map(\.status)
      guard case .sent(let sent) = statuses.first, case .refused(let code, _) = statuses.last else {
        throw Unexpected(reply: "\(statuses)")
      }
      #expect(sent.photoID == photos.first?.id && code == "already_sent_today")
      #expect(await second.uploads.first?.progress == 1)
    }
  }

  @Test func theProgressGrowsToTheEnd() async throws {
    try await withStack(engines[0]) { stack in
      let alice = try await stack.signedUpClient("alice")
      let group = try await alice.groups.create(name: "Us", timeZone: .gmt)
      let shares = Mutex<[Double]>([])
      // What comes after the end of a JPEG is not looked at, and makes it large.
      let photo = SamplePhotos.jpeg + Data(count: 3 * 1024 * 1024)
      _ = try await alice.photos.send(.data(photo), to: group) { share in shares.withLock { $0.append(share) } }
      let all = shares.withLock { $0 }
      #expect(all.count > 1 && all == all.sorted() && all.last == 1)
    }
  }

  @Test func aLinkThatHasEndedIsRenewed() async throws {
    try await withStack(engines[0]) { stack in
      let transport = CountingTransport()
      let alice = try await stack.signedUpClient("alice", transport: GatewayTransport(transport, stack))
      let group = try await alice.groups.create(name: "Us", timeZone: .gmt)
      let sent = try await alice.photos.send(.data(SamplePhotos.jpeg), to: group)
      let photo = try await alice.photos.photo(sent.photoID)
      _ = try await alice.photos.data(of: photo)
      #expect(transport.count("/api/photos/\(photo.id)") == 1)
      stack.clock.advance(by: .seconds(2 * 3600))
      #expect(try await alice.photos.data(of: photo).starts(with: [0xFF, 0xD8]))
      #expect(try await alice.photos.data(of: photo, thumbnail: true).starts(with: [0xFF, 0xD8]))
      // Each of the two old links was renewed.
      #expect(transport.count("/api/photos/\(photo.id)") == 3)
    }
  }
}

/// Sends what is for the address in the photos' links to the gateway of the stack, whose port is not known when the
/// service starts.
private struct GatewayTransport: Transport {
  private let inner: any Transport
  private let base: String

  init(_ inner: any Transport, _ stack: TestStack) {
    self.inner = inner
    base = stack.gateway.base
  }

  func stream(_ request: HTTPRequest, progress: (@Sendable (Int64) -> Void)?) async throws -> HTTPStream {
    var request = request
    let text = request.url.absoluteString.replacing("http://127.0.0.1:8080", with: base)
    request.url = URL(string: text) ?? request.url
    return try await inner.stream(request, progress: progress)
  }
}
