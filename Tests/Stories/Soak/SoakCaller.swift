import Foundation
import Support
import Wire

/// A service that asks for random operations, one after the other, and repeats a request without an answer until there
/// is one, or gives up.
struct SoakCaller {
  let credits: Browser
  let users: [UserID]
  let log: SoakLog
  var random: SeededRandom
  /// Whether each request has to be answered. Not in a soak that kills the service.
  var isServiceAlwaysUp = false

  /// The ids of new users.
  static func signUp(_ count: Int, through auth: Browser) async throws -> [UserID] {
    var users: [UserID] = []
    for number in 0..<count {
      let reply = try await auth.with(["X-Admin-Key": TestStack.adminKey])
        .post("/api/v1/auth/dev/token", ["email": "soak\(number)@example.com"])
      guard reply.status == 200 else { throw Unexpected(reply: reply.text) }
      users.append(try await SignedInUser(reply, through: auth).id)
    }
    return users
  }

  mutating func run() async {
    while let label = log.next() {
      let user = users[Int.random(in: users.indices, using: &random)]
      log.record(label, user, await outcome(label, user))
    }
  }

  private mutating func outcome(_ label: String, _ user: UserID) async -> SoakLog.Outcome {
    let amount = Int.random(in: 1...30, using: &random)
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<12: return await grant(amount, label, user)
    case 12..<22:
      let expiry = Date() + Double.random(in: 0.5...8, using: &random)
      return await grant(amount, label, user, ["expires_at": RFC3339.milliseconds(expiry)])
    case 22..<45: return await spend(amount, label, user, ["idempotency_key": label])
    case 45..<55: return await spend(amount, label, user)
    case 55..<61:
      let refund: [String: any Sendable] = [
        "transaction_type": "refund", "creates_debt": true, "idempotency_key": label,
      ]
      return await spend(amount, label, user, refund)
    default: return await hold(amount, label, user)
    }
  }

  private mutating func grant(
    _ amount: Int, _ label: String, _ user: UserID, _ more: [String: any Sendable] = [:]
  ) async -> SoakLog.Outcome {
    let body: [String: any Sendable] = [
      "user_id": user.description, "amount": amount, "description": label, "idempotency_key": label,
    ]
    guard let reply = await answer("/internal/credits/grant", body.merging(more) { $1 }) else {
      return .unknown([amount])
    }
    return expect(reply, 200) ? .posted(amount, id: reply.string("transaction_id")) : .unknown([amount])
  }

  private mutating func spend(
    _ amount: Int, _ label: String, _ user: UserID, _ more: [String: any Sendable] = [:]
  ) async -> SoakLog.Outcome {
    let body: [String: any Sendable] = ["user_id": user.description, "cost": amount, "description": label]
    let isRepeatable = more["idempotency_key"] != nil
    let reply = await answer("/internal/credits/spend", body.merging(more) { $1 }, isRepeatable: isRepeatable)
    guard let reply, expect(reply, 200) else { return .unknown([-amount]) }
    if reply.bool("success") == true { return .posted(-amount, id: reply.string("transaction_id")) }
    if more["creates_debt"] != nil { log.fault("a refund was refused: \(reply.text)") }
    return .refused
  }

  private mutating func hold(_ amount: Int, _ label: String, _ user: UserID) async -> SoakLog.Outcome {
    let body: [String: any Sendable] = [
      "user_id": user.description, "cost": amount, "description": label, "idempotency_key": label,
      "expires_in": Int.random(in: 1...3, using: &random),
    ]
    guard let reply = await answer("/internal/credits/holds", body), reply.status != 402, expect(reply, 201) else {
      return .refused
    }
    let path = "/internal/credits/holds/\(reply.string("id"))"
    let part = Int.random(in: 1...amount, using: &random)
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<35: return await capture(amount, path)
    case 35..<55: return await capture(part, path, ["amount": part])
    case 55..<65: return await race(part, path)
    case 65..<85:
      if let reply = await answer("\(path)/release"), reply.status != 409 { _ = expect(reply, 200) }
      return .refused
    default: return .refused
    }
  }

  private mutating func capture(
    _ amount: Int, _ path: String, _ body: [String: any Sendable] = [:]
  ) async -> SoakLog.Outcome {
    guard let reply = await answer("\(path)/capture", body) else { return .unknown([-amount]) }
    if reply.status == 409 { return .refused }
    return expect(reply, 200) ? .posted(-amount, id: nil) : .unknown([-amount])
  }

  /// Captures and releases at once: at most one of them is done.
  private mutating func race(_ amount: Int, _ path: String) async -> SoakLog.Outcome {
    var other = self
    async let release = other.released(path)
    let captured = await capture(amount, path, ["amount": amount])
    if await release, case .posted = captured { log.fault("\(path) is captured and released") }
    return captured
  }

  private mutating func released(_ path: String) async -> Bool { await answer("\(path)/release")?.status == 200 }

  /// The answer to a request, which is sent again while there is none; nil after some attempts.
  private mutating func answer(
    _ path: String, _ body: [String: any Sendable] = [:], isRepeatable: Bool = true
  ) async -> Browser.Reply? {
    while true {
      do {
        let reply = try await credits.post(path, body)
        guard reply.status >= 500 else { return reply }
        if reply.status != 503 || reply.headers.first(name: "Retry-After") == nil {
          log.fault("\(reply.status) without a time to come back: \(reply.text)")
        }
      } catch {
        // The connection broke, or there was no answer within a minute. A service that was killed may do so.
        if isServiceAlwaysUp { log.fault("no answer to \(path): \(error)") }
      }
      guard isRepeatable, Int.random(in: 0..<50, using: &random) > 0 else { return nil }
      // `try?`: nothing cancels this task.
      try? await Task.sleep(for: .milliseconds(50))
    }
  }

  private func expect(_ reply: Browser.Reply, _ status: Int) -> Bool {
    if reply.status != status { log.fault("\(reply.status) instead of \(status): \(reply.text)") }
    return reply.status == status
  }
}
