import Database
import Foundation
import Support
import Synchronization
import Testing
import Wire

@testable import Events

/// kill -9 of the events service while it notifies: each device gets each notification, and shows it once, as what is
/// sent again has the same `apns-id`. `KITH_PUSHES` and `KITH_PUSH_KILLS` set how many and how often.
@Suite(.serialized) struct PushKillTests {
  private static let settings = ProcessInfo.processInfo.environment
  private static let pushCount = settings["KITH_PUSHES"].flatMap { Int($0) } ?? 600
  private static let killCount = settings["KITH_PUSH_KILLS"].flatMap { Int($0) } ?? 3
  /// Each is notified at most twenty times, as thirty an hour are the limit.
  private static let userCount = max(50, pushCount / 20)

  @Test(arguments: engines) func eachDeviceGetsEachNotificationOnce(_ engine: Engine) async throws {
    try await withAPNs { apns, _ in
      try await withTestDatabase(engine) { testDatabase in
        let processes = try ServiceProcesses(["auth", "events"], in: testDatabase, apns.settings())
        for process in processes.all.values { try await process.healthy("/health/ready") }
        var running = try #require(processes.all["events"])
        let users = try await registerDevices(in: testDatabase)
        let sending = Task { [url = running.gateway] in try await Self.deliver(to: users, through: url) }
        for kill in 1...Self.killCount {
          let goal = Self.pushCount * kill / (Self.killCount + 1)
          try await eventually("\(goal) notifications", within: .seconds(600)) { apns.accepted.count >= goal }
          await running.kill()
          try await endLeases(in: testDatabase)
          running = try processes.restart("events")
          try await running.healthy("/health/ready")
        }
        try await sending.value
        try await eventually("all notifications", within: .seconds(600)) { apns.accepted.count == Self.pushCount }
        let devices = Dictionary(grouping: apns.accepted, by: \.token)
        #expect(devices.count == Self.userCount)
        for (token, sent) in devices {
          // One of each event.
          #expect(Set(sent.map { $0.payload["group_id"] }).count == sent.count, "\(token)")
          #expect(sent.count == Self.pushCount / Self.userCount, "\(token)")
        }
        #expect(apns.refusals.isEmpty)
        print("\(Self.pushCount) notifications, \(Self.killCount) kills: \(apns.doubles) were sent again")
        for process in [running, try #require(processes.all["auth"])] { _ = await process.stop() }
      }
    }
  }

  /// Devices as their registration leaves them.
  private func registerDevices(in testDatabase: TestDatabase) async throws -> [UserID] {
    let database = try await testDatabase.open("events", [])
    let now = Date()
    let users = (0..<Self.userCount).map { _ in UserID.new(at: now) }
    try await database.write { db in
      for user in users {
        let token = UUID().uuidString.replacing("-", with: "").lowercased() + String(repeating: "0a", count: 16)
        let device = Device(
          id: .new(at: now), token: token, platform: .ios, environment: .production, createdAt: now, updatedAt: now)
        _ = try DeviceStore.register(device, of: user, in: nil, on: db)
      }
    }
    await database.close()
    return users
  }

  /// What the killed process was sending is due when its leases end, which takes more than a minute: not in a short
  /// test.
  private func endLeases(in testDatabase: TestDatabase) async throws {
    guard Self.settings["KITH_PUSHES"] == nil else { return }
    let (database, now) = (try await testDatabase.open("events", []), Date())
    try await database.write { db in
      for table: SQL in ["inbox", "outbox"] {
        try db.change("update \(table) set due_at = \(now) where lease is not null and due_at > \(now)")
      }
    }
    await database.close()
  }

  /// Delivers the events, each until that is acknowledged.
  private static func deliver(to users: [UserID], through events: Browser) async throws {
    let producer = events.with(["X-Service-Key": TestStack.keys["groups"] ?? ""])
    for _ in 0..<(pushCount / userCount) {
      let now = Date()
      let group = GroupID.new(at: now).description
      let event = FeedEvent(
        id: .new(at: now), topics: ["social_groups:\(group)"], name: "first_photo_sent",
        payload: .object(["group_id": .string(group)]), at: now,
        push: PushDetails(recipients: users))
      let body = try JSON.encodeExact(FeedBatch(events: [event]))
      while !Task.isCancelled {
        // `try?`: the service was killed.
        let reply = try? await producer.send(.POST, "/internal/events", body: body)
        if reply?.status == 200 { break }
        try await Task.sleep(for: .milliseconds(50))
      }
      try await Task.sleep(for: .milliseconds(5))
    }
  }
}
