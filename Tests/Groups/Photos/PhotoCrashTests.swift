import Database
import Foundation
import Support
import Synchronization
import Testing
import Wire

@testable import Groups

/// kill -9 and full disks in the middle of uploads.
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

  /// What was acknowledged: the photo of the day of each, and how many there have been.
  private final class Answers: Sendable {
    private let state = Mutex((present: [UserID: String](), count: 0))

    func sent(_ id: String, by user: UserID) {
      state.withLock { state in
        state.present[user] = id
        state.count += 1
      }
    }

    /// From now on nobody can tell.
    func forget(_ user: UserID) { state.withLock { $0.present[user] = nil } }
    var present: [UserID: String] { state.withLock { $0.present } }
    var count: Int { state.withLock { $0.count } }
  }

  /// Everybody sends a photo, deletes it, sends another, until the process is gone.
  private func sendUntilKilled(
    _ kith: KithProcess, _ members: [(SignedInUser, GroupID)], _ photo: Data, _ answers: Answers
  ) async throws {
    let before = answers.count
    await withTaskGroup(of: Void.self) { group in
      for (user, id) in members {
        group.addTask {
          while !Task.isCancelled {
            do {
              if let present = answers.present[user.id] {
                answers.forget(user.id)
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
      // A busy machine may not have come to the first yet.
      for _ in 0..<2000 where answers.count == before {
        // `try?`: as above.
        try? await Task.sleep(for: .milliseconds(10))
      }
      await kith.kill()
      group.cancelAll()
    }
  }

  @Test(arguments: engines) func twentyKillsLeaveNoRowWithoutBytesAndNoBytesWithoutRow(engine: Engine) async throws {
    try await withPlace(engine) { place in
      let environment = try KithProcess.environment(place).merging(Self.unlimited) { $1 }
      var kith = try await KithProcess.start(in: place, environment)
      let photo = PNG.noise(500, 400)
      var members: [(SignedInUser, GroupID)] = []
      for name in ["alice", "bob", "carol", "dave"] {
        let user = try await signIn(name, to: kith)
        members.append((user, try await user.group("Ours")))
      }
      let answers = Answers()
      for _ in 0..<20 {
        try await sendUntilKilled(kith, members, photo, answers)
        kith = try await KithProcess.start(in: place, environment)
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

      let database = try await place.open("groups", [])
      let folder = try PhotoFolder(place.folder.appendingPathComponent("photos").path)
      let sweep = PhotoSweep(
        remains: PhotoRemains(database: database), files: folder, local: folder, logger: quiet,
        now: { Date() + 15 * 60 })
      func states() async throws -> [String] {
        try await database.read { try $0.rows("select state from photo").map { try $0.get("state") } }
      }
      try await sweep.deleteEnded()
      let before = try await states()
      try await sweep.compare()
      // No row has lost its bytes: none had to be ended.
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

  /// A file may have a megabyte here; where it would have more, the system says what it says of a full disk.
  @Test func aFullDiskKeepsWhatWasThere() async throws {
    try await withPlace(engines.last ?? .sqlite) { place in
      let environment = try KithProcess.environment(place).merging(Self.unlimited) { $1 }
      let limited = ["bash", "-c", "trap '' XFSZ; ulimit -f 1024; exec \"$0\""]
      let kith = try KithProcess.launch("kith", environment, in: place, wrapper: limited)
      try await kith.healthy()
      let alice = try await signIn("alice", to: kith)
      let (group, other) = (try await alice.group("Ours"), try await alice.group("Others"))
      #expect(try await alice.send(Pictures.jpeg, to: group).status == 200)
      let refused = try await alice.send(PNG.noise(1000, 800), to: other)
      #expect(refused.status == 503 && refused.string("code") == "storage_full", "\(refused.text)")
      #expect(refused.headers.contains(name: "retry-after"))
      #expect(try await alice.today(other).isEmpty)
      #expect(try await alice.today(group).count == 1)
      let folder = try PhotoFolder(place.folder.appendingPathComponent("photos").path)
      #expect(try await folder.list(after: nil).count == 2)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.incoming).isEmpty)
      #expect(try await alice.send(Pictures.jpeg, to: other).status == 200)
      #expect(await kith.stop() == 0)
    }
  }
}
