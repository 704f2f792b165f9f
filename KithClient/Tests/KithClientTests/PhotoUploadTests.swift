import Foundation
import Testing

@testable import KithClient

/// Photos that wait for a network, or for the next start of the app.
@Suite struct PhotoUploadTests {
  private static let sent = HTTPResponse.json(#"{"photo_id":"p","expires_at":"2026-11-23T08:15:30Z"}"#)

  private func folder() -> URL { URL.temporaryFile.deletingLastPathComponent() }

  private func files(_ folder: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0 != "uploads.json" }
  }

  @Test func aPhotoIsSentAfterARestartWithTheSameKey() async throws {
    let (client, transport) = try await KithClient.scripted { _, count in
      // The server has it, and the app is killed before the answer.
      if count == 1 { throw CancellationError() }
      return Self.sent
    }
    let folder = folder()
    let first = PhotoUploads(client: client, folder: folder)
    let id = try await first.add(.data(Data([1, 2, 3])), to: "g")
    await #expect(throws: CancellationError.self) { try await first.send() }
    #expect(try files(folder) == [id])

    let second = PhotoUploads(client: client, folder: folder)
    #expect(await second.uploads.map(\.status) == [.waiting])
    try await second.send()
    try await second.send()
    guard case .sent(let photo) = await second.uploads.first?.status else {
      Issue.record("not sent")
      return
    }
    #expect(photo.photoID == "p")
    #expect(try files(folder).isEmpty)
    #expect(transport.requests.map { $0.headers["Idempotency-Key"] } == [id, id])
    #expect(transport.requests.allSatisfy { $0.url.query == "group_id=g" })
    let third = PhotoUploads(client: client, folder: folder)
    #expect(await third.uploads == second.uploads.map { $0.stored })
    try await third.remove(id)
    #expect(await PhotoUploads(client: client, folder: folder).uploads.isEmpty)
  }

  @Test func whatIsRefusedIsNotSentAgainAndTheRestIs() async throws {
    let (client, transport) = try await KithClient.scripted { request, _ in
      request.url.query == "group_id=full" ? .refusal(400, "already_sent_today") : Self.sent
    }
    let uploads = PhotoUploads(client: client, folder: folder())
    try await uploads.add(.data(Data([1])), to: "full")
    try await uploads.add(.data(Data([2])), to: "g")
    try await uploads.send()
    try await uploads.send()
    let all = await uploads.uploads
    #expect(all.first?.status == .refused(code: "already_sent_today", message: "No."))
    #expect(all.count == 2 && all.last?.status != .waiting && transport.requests.count == 2)
  }

  @Test func withoutANetworkEverythingWaits() async throws {
    let (client, transport) = try await KithClient.scripted { _, count in
      if count <= 5 { throw NoAnswer("offline") }
      return Self.sent
    }
    let uploads = PhotoUploads(client: client, folder: folder())
    for number in 0..<3 { try await uploads.add(.data(Data([UInt8(number)])), to: "g") }
    await #expect(throws: KithFailure.unreachable("offline")) { try await uploads.send() }
    #expect(await uploads.uploads.allSatisfy { $0.status == .waiting })
    try await uploads.send()
    #expect(await uploads.uploads.allSatisfy { $0.status != .waiting } && transport.requests.count == 8)
  }

  @Test func callersThatComeTogetherShareOneRun() async throws {
    let (client, transport) = try await KithClient.scripted { _, _ in Self.sent }
    let uploads = PhotoUploads(client: client, folder: folder())
    try await uploads.add(.data(Data([1])), to: "g")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<20 { group.addTask { try await uploads.send() } }
      try await group.waitForAll()
    }
    #expect(transport.requests.count == 1)
  }

  @Test func whatCannotBeSentIsNotAdded() async throws {
    let (client, _) = try await KithClient.scripted { _, _ in Self.sent }
    let folder = folder()
    let uploads = PhotoUploads(client: client, folder: folder)
    await #expect(throws: KithFailure.invalid("A photo has at most 10 MB.")) {
      try await uploads.add(.data(Data(count: 10 * 1024 * 1024 + 1)), to: "g")
    }
    await #expect(throws: (any Error).self) {
      try await uploads.add(.file(folder.appendingPathComponent("missing.heic")), to: "g")
    }
    #expect(await uploads.uploads.isEmpty)
    #expect(try files(folder).isEmpty)
  }
}

extension PhotoUpload {
  /// As it is after a restart.
  fileprivate var stored: PhotoUpload {
    var upload = self
    upload.progress = 0
    return upload
  }
}
