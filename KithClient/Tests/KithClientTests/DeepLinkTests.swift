import Foundation
import Testing

@testable import KithClient

/// The links that open the app.
@Suite struct DeepLinkTests {
  private static let hosts: Set<String> = ["kith.example"]

  @Test(arguments: [
    ("daily://invite?code=ABC123", DeepLink.code("ABC123")), ("daily://invite?code=abc123&x=1", .code("ABC123")),
    ("DAILY://invite?code=%20ABC123", .code("ABC123")),
    ("sampleart://invite/inv_abcd1234", .share(token: "inv_abcd1234")),
    ("https://kith.example/i/k7qm2xwp", .code("K7QM2XWP")),
    ("https://KITH.example/invite/inv_A-b_9", .share(token: "inv_A-b_9")),
  ])
  func theLinksOfTheContractsAreRead(text: String, link: DeepLink) throws {
    #expect(DeepLink(try #require(URL(string: text)), webHosts: Self.hosts) == link)
  }

  @Test(arguments: [
    "daily://invite", "daily://invite?code=", "daily://group?code=ABC123", "daily://invite?code=AB", "other://invite/x",
    "sampleart://invite/", "sampleart://invite/x_1", "sampleart://invite/inv_1/more", "https://evil.example/i/ABC123",
    "http://kith.example/i/ABC123", "https://kith.example/other/ABC123", "https://kith.example/i/ABC%2F123",
    "daily://invite?code=ABC123ABC123ABC123",
  ])
  func othersAreNot(text: String) throws {
    #expect(DeepLink(try #require(URL(string: text)), webHosts: Self.hosts) == nil)
  }

  private func links(_ client: KithClient) -> DeepLinks {
    DeepLinks(client: client, file: .temporaryFile, webHosts: Self.hosts)
  }

  @Test func aLinkThatIsOpenedManyTimesIsRedeemedOnce() async throws {
    let (client, transport) = try await KithClient.scripted { _, _ in .json(#"{"group_id":"g","group_name":"Us"}"#) }
    let (links, link) = (links(client), try #require(URL(string: "daily://invite?code=ABC123")))
    let outcomes = try await withThrowingTaskGroup(of: DeepLinks.Outcome.self) { group in
      for _ in 0..<20 { group.addTask { try await links.open(link) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(outcomes.filter { $0 != .ignored }.count == 1)
    #expect(transport.requests.count == 1)
  }

  @Test func aRefusedLinkIsSettledAndAnUnansweredOneWaits() async throws {
    let (client, transport) = try await KithClient.scripted { request, count in
      if count <= 5 { throw NoAnswer("offline") }
      return .refusal(410, "invite_expired")
    }
    let (links, link) = (links(client), try #require(URL(string: "daily://invite?code=ABC123")))
    #expect(try await links.open(link) == .waiting)
    #expect(await links.pending == .code("ABC123"))
    let failure = await #expect(throws: KithFailure.self) { try await links.redeemPending() }
    #expect(failure?.code == .known(.inviteExpired))
    #expect(await links.pending == nil)
    #expect(try await links.redeemPending() == .ignored)
    #expect(try await links.open(link) == .ignored)
    #expect(transport.requests.count == 6)
  }

  @Test func duringOnboardingALinkWaits() async throws {
    let (client, transport) = try await KithClient.scripted { _, _ in .json("{}") }
    let (links, link) = (links(client), try #require(URL(string: "daily://invite?code=ABC123")))
    #expect(try await links.open(link, isOnboarding: true) == .waiting)
    #expect(transport.requests.isEmpty)
    #expect(try await links.open(try #require(URL(string: "https://example.com"))) == .unknown)
  }

  @Test func anAppThatWasKilledRedeemsWithTheSameKey() async throws {
    let (client, transport) = try await KithClient.scripted { _, count in
      // The answer is lost, and the app is killed while it waits.
      if count <= 1 { throw CancellationError() }
      return .json(#"{"group_id":"g","group_name":"Us"}"#)
    }
    let (file, link) = (URL.temporaryFile, try #require(URL(string: "daily://invite?code=ABC123")))
    let first = DeepLinks(client: client, file: file, webHosts: Self.hosts)
    await #expect(throws: CancellationError.self) { try await first.open(link) }
    let second = DeepLinks(client: client, file: file, webHosts: Self.hosts)
    #expect(await second.pending == .code("ABC123"))
    #expect(
      try await second.redeemPending() == .redeemed(.group(JoinedGroup(groupID: "g", groupName: "Us"))))
    let keys = transport.requests.map { $0.headers["Idempotency-Key"] }
    #expect(keys.count == 2 && keys[0] == keys[1] && keys[0] != nil)
    let third = DeepLinks(client: client, file: file, webHosts: Self.hosts)
    #expect(try await third.redeemPending() == .ignored)
    #expect(try await third.open(link) == .ignored)
    #expect(transport.requests.count == 2)
  }

  @Test func linksThatWaitAreRedeemedInTheirTurn() async throws {
    let (client, transport) = try await KithClient.scripted(isSignedIn: false) { request, _ in
      .json(#"{"group_id":"g","group_name":"Us"}"#)
    }
    let links = links(client)
    for code in ["AAAA11", "BBBB22", "AAAA11"] {
      #expect(try await links.open(try #require(URL(string: "daily://invite?code=\(code)"))) == .waiting)
    }
    #expect(try await links.redeemPending() == .waiting)
    #expect(transport.requests.isEmpty)
    try await client.auth.sessions.start(TokenPair(accessToken: "a.b.c", refreshToken: "r", expiresIn: 3600))
    #expect(await links.pending == .code("AAAA11"))
    #expect(try await links.redeemPending() != .ignored)
    #expect(await links.pending == .code("BBBB22"))
    #expect(try await links.redeemPending() != .ignored)
    #expect(try await links.redeemPending() == .ignored)
    #expect(transport.requests.count == 2)
  }

  @Test func anotherAccountMayUseTheSameLink() async throws {
    func token(_ user: String) -> TokenPair {
      let claims = Data(#"{"sub":"\#(user)"}"#.utf8).base64EncodedString().replacingOccurrences(of: "=", with: "")
      return TokenPair(accessToken: "e30.\(claims).c2ln", refreshToken: "r", expiresIn: 3600)
    }
    let (client, transport) = try await KithClient.scripted(isSignedIn: false) { _, _ in
      .json(#"{"group_id":"g","group_name":"Us"}"#)
    }
    let (links, link) = (links(client), try #require(URL(string: "https://kith.example/i/K7QM2XWP")))
    for user in ["alice", "bob"] {
      try await client.auth.sessions.start(token(user))
      guard case .redeemed = try await links.open(link) else {
        Issue.record("not redeemed")
        return
      }
      #expect(try await links.open(link) == .ignored)
    }
    #expect(transport.requests.count == 2)
  }

  @Test func aCodeOfAListJoinsTheList() async throws {
    let (client, _) = try await KithClient.scripted { request, _ in
      request.url.path == "/api/invites/redeem"
        ? .refusal(404, "invite_not_found")
        : .json(#"{"message":"","list":{"id":1,"name":"My Tasks","role":"editor"},"membership":{"id":3}}"#)
    }
    let link = try #require(URL(string: "https://kith.example/i/K7QM2XWP"))
    #expect(
      try await links(client).open(link)
        == .redeemed(.list(JoinedList(id: 1, name: "My Tasks", color: nil, visibility: nil, role: "editor"))))
  }
}
