import Database
import Foundation
import Support
import Synchronization
import Testing
import Wire

@testable import Groups
@testable import Photos

/// SIGKILL and full disks during uploads.
@Suite struct PhotoCrashTests {
  private static let unlimited = [
    "RATE_LIMIT": "1000000", "RATE_LIMIT_USER": "1000000", "RATE_LIMIT_UPLOAD": "1000000",
    "RATE_LIMIT_SIGN_IN": "1000000",
  ]

  private func signIn(_ name: String, to kith: KithProcess) async throws -> SignedInUser {
    let reply = try await kith.gateway.with(["X-Admin-Key": TestStack.adminKey])
      .post("/api/v1/auth/dev/token", ["email": "\(name)@example.com", "display_name": name])
    return try await SignedInUser(reply, through: kith.gateway)
  }

  /// The acknowledged photos: each user's photo of the day, and how many there have been in all.
  private final class AcknowledgedPhotos: Sendable {
    private let state = Mutex((present: [UserID: String](), count: 0))

    func sent(_ id: String, by user: UserID) {
      state.withLock { state in
        state.present[user] = id
        state.count += 1
      }
    }

    /// Called before a deletion whose outcome may stay unknown.
    func remove(_ user: UserID) { state.withLock { $0.present[user] = nil } }
    var present: [UserID: String] { state.withLock { $0.present } }
    var count: Int { state.withLock { $0.count } }
  }

  /// All users send a photo, delete it and send another, until the process is killed.
  private func sendUntilKilled(
    _ kith: KithProcess, _ members: [(SignedInUser, GroupID)], _ photo: Data, _ answers: AcknowledgedPhotos
  ) async throws {
    let before = answers.count
    await withTaskGroup(of: Void.self) { group in
      for (user, id) in members {
        group.addTask {
          while !Task.isCancelled {
            do {
              if let present = answers.present[user.id] {
                answers.remove(user.id)
                _ = try await user.browser.delete("/api/photos/\(present)")
              }
              let sent = try await user.send(photo, to: id)
              if sent.status == 200 { answers.sent(sent.string("photo_id"), by: user.id) }
              if sent.status == 400, let seen = try await user.today(id).first?["id"] as? String {
                answers.sent(seen, by: user.id)
              }
            } catch { return }
          }
        }
      }
      // `try?`: nothing cancels this task.
      try? await Task.sleep(for: .milliseconds(Int.random(in: 100...500)))
      // On a busy machine the first photo may not be acknowledged yet.
      for _ in 0..<12_000 where answers.count == before {
        // `try?`: as above.
        try? await Task.sleep(for: .milliseconds(10))
      }
      await kith.kill()
      group.cancelAll()
    }
  }

  @Test(arguments: engines) func twentyKillsLeaveNoRowWithoutBytesAndNoBytesWithoutRow(engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let environment = try KithProcess.environment(testDatabase).merging(Self.unlimited) { $1 }
      var kith = try await KithProcess.start(in: testDatabase, environment)
      let photo = PNG.noise(500, 400)
      var members: [(SignedInUser, GroupID)] = []
      for name in ["alice", "bob", "carol", "dave"] {
        let user = try await signIn(name, to: kith)
        members.append((user, try await user.group("Ours")))
      }
      let answers = AcknowledgedPhotos()
      for _ in 0..<20 {
        try await sendUntilKilled(kith, members, photo, answers)
        kith = try await KithProcess.start(in: testDatabase, environment)
      }
      #expect(answers.count >= 20)
      for (user, id) in members {
        guard let present = answers.present[user.id] else { continue }
        let seen = try #require(try await user.today(id).first)
        #expect(seen["id"] as? String == present)
        let url = (seen["url"] as? String ?? "").replacing(/^http:\/\/[^\/]+/, with: "")
        #expect(try await kith.gateway.get(url).status == 200)
      }
      #expect(await kith.stop() == 0)

      let database = try await testDatabase.open("groups", [])
      let folder = try PhotoFolder(testDatabase.folder.appendingPathComponent("photos").path)
      let sweep = PhotoSweep(
        store: PhotoSweepStore(database: database), files: folder, local: folder, logger: quiet,
        now: { Date() + 15 * 60 })
      func states() async throws -> [String] {
        try await database.read { try $0.rows("select state from photo").map { try $0.get("state") } }
      }
      try await sweep.deleteEnded()
      let before = try await states()
      try await sweep.reconcile()
      // No row lacks its files: none was ended.
      #expect(try await states() == before && before.allSatisfy { $0 == "ready" })
      let rows = try await database.read { db in
        try db.rows("select id from photo").map { try $0.get("id", as: PhotoID.self) }
      }
      var names: [PhotoFileName] = []
      while let page = try await folder.list(after: names.last) as [PhotoFileName]?, !page.isEmpty { names += page }
      #expect(Set(names) == Set(rows.flatMap { [PhotoFileName($0, .large), PhotoFileName($0, .small)] }))
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.incoming).isEmpty)
      await database.close()
    }
  }

  /// Limits files to a megabyte. A write beyond that fails, as on a full disk.
  @Test func aFullDiskKeepsWhatWasThere() async throws {
    try await withTestDatabase(engines.last ?? .sqlite) { testDatabase in
      let environment = try KithProcess.environment(testDatabase).merging(Self.unlimited) { $1 }
      let limited = ["bash", "-c", "trap '' XFSZ; ulimit -f 1024; exec \"$0\""]
      let kith = try KithProcess.launch("kith", environment, in: testDatabase, wrapper: limited)
      try await kith.healthy()
      let alice = try await signIn("alice", to: kith)
      let (group, other) = (try await alice.group("Ours"), try await alice.group("Others"))
      #expect(try await alice.send(SamplePhotos.jpeg, to: group).status == 200)
      let refused = try await alice.send(PNG.noise(1000, 800), to: other)
      #expect(refused.status == 503 && refused.string("code") == "storage_full", "\(refused.text)")
      #expect(refused.headers.contains(name: "retry-after"))
      #expect(try await alice.today(other).isEmpty)
      #expect(try await alice.today(group).count == 1)
      let folder = try PhotoFolder(testDatabase.folder.appendingPathComponent("photos").path)
      #expect(try await folder.list(after: nil).count == 2)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.incoming).isEmpty)
      #expect(try await alice.send(SamplePhotos.jpeg, to: other).status == 200)
      #expect(await kith.stop() == 0)
    }
  }
}
