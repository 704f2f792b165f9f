import Database
import Foundation
import Support
import Synchronization
import Testing
import Wire

/// Processes that make scenes on one database, and those that they need.
final class TimepointReplicas: Sendable {
  private struct Replica {
    let environment: [String: String]
    var process: KithProcess
  }

  static let concurrency = 8

  private let testDatabase: TestDatabase
  private let others: ServiceProcesses
  private let replicas: Mutex<[Replica]>

  init(in testDatabase: TestDatabase, _ settings: [String: String], count: Int) async throws {
    let settings = settings.merging([
      "GENERATIONS_AT_ONCE": "\(Self.concurrency)", "GENERATIONS_AT_ONCE_PER_USER": "4",
      "JWT_ACCESS_EXPIRE_MINUTES": "1440",
    ]) { $1 }
    let others = try ServiceProcesses(["auth", "credits", "timepoints"], in: testDatabase, settings)
    try await others.ready()
    let first = try #require(others.all["timepoints"])
    var replicas = [Replica(environment: first.environment, process: first)]
    while replicas.count < count {
      let environment = first.environment.merging(["PORT": "\(try freePort())"]) { $1 }
      let process = try KithProcess.launch("kith-timepoints", environment, in: testDatabase)
      try await process.healthy("/health/ready")
      replicas.append(Replica(environment: environment, process: process))
    }
    (self.testDatabase, self.others) = (testDatabase, others)
    self.replicas = Mutex(replicas)
  }

  func users(_ count: Int, credits: Int) async throws -> [SignedInUser] {
    let auth = try #require(others.all["auth"]).gateway
    let ledger = try #require(others.all["credits"]).gateway
    let admin = ["X-Admin-Key": TestStack.adminKey]
    var users: [SignedInUser] = []
    for number in 0..<count {
      let reply = try await auth.with(admin).post("/api/v1/auth/dev/token", ["email": "user\(number)@example.com"])
      let user = try await SignedInUser(reply, through: auth)
      let granted = try await ledger.with(admin)
        .post("/api/v1/credits/admin/grant", ["user_id": user.id.description, "amount": credits])
      guard granted.status == 200 else { throw Unexpected(reply: granted.text) }
      users.append(user)
    }
    return users
  }

  /// Repeats a request until it is answered, by any replica.
  func answered(
    _ path: String, _ body: [String: any Sendable], by user: SignedInUser, key: String
  ) async throws -> Browser.Reply {
    var answer: Browser.Reply?
    try await eventually("an answer to \(key)", within: .seconds(300)) {
      guard let replica = replicas.withLock({ $0.randomElement() }) else { return false }
      let app = replica.process.gateway.bearing(user.access).with(["Idempotency-Key": key])
      // `try?`: it was killed.
      let reply = try? await app.post(path, body)
      if let reply, reply.status == 200 { answer = reply }
      return answer != nil
    }
    guard let answer else { throw Unexpected(reply: "no answer to \(key)") }
    return answer
  }

  func killOne() async throws {
    let index = Int.random(in: 0..<replicas.withLock { $0.count })
    let replica = replicas.withLock { $0[index] }
    await replica.process.kill()
    let process = try KithProcess.launch("kith-timepoints", replica.environment, in: testDatabase)
    replicas.withLock { $0[index].process = process }
    try await process.healthy("/health/ready")
  }

  func stop() async {
    for replica in replicas.withLock({ $0 }) { _ = await replica.process.stop() }
    for name in ["credits", "auth"] { _ = await others.all[name]?.stop() }
  }
}

extension Sequence where Self: Sendable {
  func asyncMap<T>(_ body: (Element) async throws -> T) async rethrows -> [T] {
    var results: [T] = []
    for element in self { results.append(try await body(element)) }
    return results
  }
}
