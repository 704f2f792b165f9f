import Foundation
import Synchronization
import Testing
import Tokens

/// People who work all the time, reading and refreshing, while something is done to the servers.
package final class Crowd: Sendable {
  private let gateway: Browser
  private let failures = Mutex<[String]>([])
  private let answers = Mutex(0)

  package init(gateway: Browser) { self.gateway = gateway }

  /// The tokens of one sign-in.
  package struct Member: Sendable {
    package var access: String
    package var refresh: String

    package var keyID: String { head?.keyID ?? "" }
    package var algorithm: String { head?.algorithm ?? "" }

    // `try?`: a token that cannot be read has no head.
    private var head: SignedToken? { try? SignedToken(access) }

    /// The status of asking for the balance.
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

  /// Runs `body` while so many people work, each with a first token that is never renewed and one that always is.
  package func working(people: Int, _ body: () async throws -> Void) async throws {
    let workers = try await (0..<people).asyncMap { number in
      let member = try await signIn("member\(number)")
      return Task { try await self.work(member) }
    }
    defer { for worker in workers { worker.cancel() } }
    try await body()
  }

  private func work(_ first: Member) async throws {
    var now = first
    while !Task.isCancelled {
      note(try await first.balance(gateway), "the first token")
      note(try await now.balance(gateway), "the present token")
      let reply = try await gateway.post("/api/v1/auth/refresh", ["refresh_token": now.refresh])
      note(reply.status, "refreshing: \(reply.text)")
      guard reply.status == 200 else { return }
      now = Member(access: reply.string("access_token"), refresh: reply.string("refresh_token"))
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  private func note(_ status: Int, _ what: String) {
    answers.withLock { $0 += 1 }
    if status != 200, !Task.isCancelled { failures.withLock { $0.append("\(status) \(what)") } }
  }

  package func expectNoFailure() {
    #expect(failures.withLock { $0 } == [])
    // Otherwise nobody has worked.
    #expect(answers.withLock { $0 } > 50)
  }
}

extension Sequence {
  fileprivate func asyncMap<T>(_ transform: (Element) async throws -> T) async rethrows -> [T] {
    var results: [T] = []
    for element in self { results.append(try await transform(element)) }
    return results
  }
}
