import Foundation
import Testing

@testable import KithClient

/// What ends a session, what renews its token, and whose answers are kept.
@Suite struct SessionRuleTests {
  private static let balance = #"{"balance":50,"lifetime_earned":50,"lifetime_spent":0}"#
  private static let refreshed = #"{"access_token":"d.e.f","refresh_token":"r2","expires_in":900}"#

  @Test func aRefusedChangeIsSentOnceMoreWithTheSameKey() async throws {
    let (client, transport) = try await KithClient.scripted { request, _ in
      if request.url.path == "/api/v1/auth/refresh" { return .json(Self.refreshed) }
      guard request.headers["Authorization"] == "Bearer d.e.f" else { return .refusal(401, "token_expired") }
      return .json(#"{"id":"g"}"#)
    }
    #expect(try await client.groups.create(name: "Us") == "g")
    let changes = transport.requests.filter { $0.url.path == "/api/groups" }
    #expect(changes.count == 2 && Set(changes.map { $0.headers["Idempotency-Key"] }).count == 1)
    #expect(Set(changes.map(\.body)).count == 1)
  }

  @Test func aTokenThatIsRefusedTwiceIsAFailure() async throws {
    let (client, transport) = try await KithClient.scripted { request, _ in
      request.url.path == "/api/v1/auth/refresh" ? .json(Self.refreshed) : .refusal(401, "unauthorized")
    }
    let failure = await #expect(throws: KithFailure.self) { try await client.credits.balance() }
    #expect(failure?.code == .known(.unauthorized))
    #expect(transport.requests.count == 3)
    #expect(await client.auth.sessions.state == .signedIn(userID: nil))
  }

  @Test(arguments: [401, 403]) func onlyTheServerEndsASession(status: Int) async throws {
    let (client, transport) = try await KithClient.scripted { request, count in
      if request.url.path != "/api/v1/auth/refresh" { return .json(Self.balance) }
      // The page of a hotel's network, and then the server.
      return count == 1 ? .json("<html>Welcome</html>", status: status) : .refusal(status, "refresh_token_reused")
    }
    await client.auth.sessions.forgetAccess()
    let failure = await #expect(throws: KithFailure.self) { try await client.credits.balance() }
    #expect(failure?.code == .other("http_\(status)"))
    guard case .signedIn = await client.auth.sessions.state else {
      Issue.record("signed out")
      return
    }
    await #expect(throws: KithFailure.signedOut) { try await client.credits.balance() }
    #expect(await client.auth.sessions.state == .signedOut(.ended))
    #expect(transport.requests.count == 2)
  }

  @Test func anOutsideIssuersNextUserSeesNothingOfTheLast() async throws {
    func token(_ user: String) -> String {
      let claims = Data(#"{"sub":"\#(user)"}"#.utf8).base64EncodedString().replacingOccurrences(of: "=", with: "")
      return "e30.\(claims).c2ln"
    }
    let (client, transport) = try await KithClient.scripted(isSignedIn: false) { _, _ in .json("[]") }
    let (users, next) = AsyncStream<String>.makeStream()
    for user in ["alice", "alice", "alice", "bob", "bob"] { next.yield(token(user)) }
    await client.auth.signIn { _ in
      for await token in users { return token }
      throw CancellationError()
    }
    // The first is asked for, the second is kept.
    _ = try await client.adventures.plans()
    _ = try await client.adventures.plans()
    #expect(transport.requests.count == 1)
    _ = try await client.adventures.plans()
    #expect(transport.requests.count == 2)
  }
}
