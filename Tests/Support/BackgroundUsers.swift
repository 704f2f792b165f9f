import Foundation
import Synchronization
import Testing
import Tokens

/// Users who read and refresh tokens continuously while a test changes the servers.
package final class BackgroundUsers: Sendable {
  private let gateway: Browser
  private let failures = Mutex<[String]>([])
  private let responseCount = Mutex(0)

  package init(gateway: Browser) { self.gateway = gateway }

  /// The tokens of one sign-in.
  package struct Member: Sendable {
    package var access: String
    package var refresh: String

    package var keyID: String { head?.keyID ?? "" }
    package var algorithm: String { head?.algorithm ?? "" }

    // `try?`: a token that cannot be parsed has no header.
    private var head: SignedToken? { try? SignedToken(access) }

    /// The status of a request for the balance.
    package func balance(_ gateway: Browser) async throws -> Int {
      try await gateway.bearing(access).get("/api/v1/credits/balance").status
    }
  }

  package func signIn(_ name: String) async throws -> Member {
    let reply = try await gateway.with(["X-Admin-Key": TestStack.adminKey])
      .post("/api/v1/auth/dev/token", ["email": "\(name)@example.com"])
    guard reply.status == 200 else { throw Unexpected(reply: reply.text) }
    return Member(access: reply.string("access_token"), refresh: reply.string("refresh_token"))
  }

  /// Runs `body` while `people` users make requests, each with its first token, which is never refreshed, and with one
  /// that is refreshed continuously.
  package func working(people: Int, _ body: () async throws -> Void) async throws {
    let workers = try await (0..<people).asyncMap { number in
      let member = try await signIn("member\(number)")
      return Task { try await self.work(member) }
    }
    defer { for worker in workers { worker.cancel() } }
    try await body()
    // As many as the premise needs, however slow the machine is.
    try await eventually("more than fifty requests") { isEnough || failures.withLock { !$0.isEmpty } }
  }

  private var isEnough: Bool { responseCount.withLock { $0 > 50 } }

  private func work(_ first: Member) async throws {
    var current = first
    while !Task.isCancelled {
      record(try await first.balance(gateway), "the first token")
      record(try await current.balance(gateway), "the current token")
      let reply = try await gateway.post("/api/v1/auth/refresh", ["refresh_token": current.refresh])
      record(reply.status, "refreshing: \(reply.text)")
      guard reply.status == 200 else { return }
      current = Member(access: reply.string("access_token"), refresh: reply.string("refresh_token"))
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  private func record(_ status: Int, _ operation: String) {
    responseCount.withLock { $0 += 1 }
    if status != 200, !Task.isCancelled { failures.withLock { $0.append("\(status) \(operation)") } }
  }

  package func expectNoFailure() {
    #expect(failures.withLock { $0 } == [])
    // The premise: requests were made at all.
    #expect(isEnough)
  }
}

extension Sequence {
  fileprivate func asyncMap<T>(_ transform: (Element) async throws -> T) async rethrows -> [T] {
    var results: [T] = []
    for element in self { results.append(try await transform(element)) }
    return results
  }
}
