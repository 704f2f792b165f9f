import Foundation
import Testing

@testable import KithClient

/// How long answers are shown again, when they are asked for with their `ETag`, and what makes them stale.
@Suite struct CacheTests {
  /// A part of the API whose answers are kept.
  struct Area: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let seconds: Double
    let read: @Sendable (KithClient) async throws -> Void
    let change: @Sendable (KithClient) async throws -> Void
  }

  static let areas = [
    Area(testDescription: "account", seconds: 3600) {
      _ = try await $0.auth.account()
    } change: {
      _ = try await $0.auth.changeProfile(name: "Kim")
    },
    Area(testDescription: "profile", seconds: 3600) {
      _ = try await $0.auth.profile()
    } change: {
      _ = try await $0.auth.changeProfile(name: "Kim")
    },
    Area(testDescription: "plans", seconds: 30 * 60) {
      _ = try await $0.adventures.plans()
    } change: {
      try await $0.adventures.deletePlan("p")
    },
    Area(testDescription: "social groups", seconds: 15 * 60) {
      _ = try await $0.adventures.socialGroups()
    } change: {
      try await $0.adventures.closeSocialGroup("g")
    },
    Area(testDescription: "members", seconds: 15 * 60) {
      _ = try await $0.adventures.members(ofSocialGroup: "g")
    } change: {
      try await $0.groups.remove("u", from: "g")
    },
    Area(testDescription: "hunts", seconds: 5 * 60) {
      _ = try await $0.adventures.hunts()
    } change: {
      try await $0.adventures.deleteHunt("h")
    },
    Area(testDescription: "checkpoints", seconds: 5 * 60) {
      _ = try await $0.adventures.checkpoints(of: "h")
    } change: {
      try await $0.adventures.removeMember("u", fromSocialGroup: "g")
    },
    Area(testDescription: "leaderboard", seconds: 5 * 60) {
      _ = try await $0.adventures.leaderboard(of: "h")
    } change: {
      try await $0.groups.leave("g")
    },
    Area(testDescription: "arrivals", seconds: 60) {
      _ = try await $0.adventures.arrivals()
    } change: {
      try await $0.adventures.endArrival("e")
    },
    Area(testDescription: "places", seconds: 0) {
      _ = try await $0.adventures.places()
    } change: {
      try await $0.adventures.deletePlace("p")
    },
    Area(testDescription: "lists", seconds: 0) {
      _ = try await $0.lists.all()
    } change: {
      try await $0.lists.delete(1)
    },
    Area(testDescription: "tags", seconds: 0) {
      _ = try await $0.tasks.tags()
    } change: {
      try await $0.tasks.deleteTag(1)
    },
  ]

  private static let user =
    #"{"id":"01a1fd42-9c11-7f3e-8d25-5b7a3c9e1f04","email":"a@b.c","created_at":"2026-11-21T08:15:30Z"}"#
  private static let profile = #"{"user":{"id":4,"email":"a@b.c"}}"#
  private static let tag = "\"v1\""

  /// Answers each read, with an `ETag`, and 304 to who has it.
  @Sendable private static func answer(_ request: HTTPRequest) -> HTTPResponse {
    guard request.method == "GET" else {
      return request.url.path.hasSuffix("profile") ? .json(profile) : .json("{}")
    }
    guard request.headers["If-None-Match"] != tag else { return .json("", status: 304) }
    let body =
      switch request.url.lastPathComponent {
      case "me": user
      case "profile": profile
      case "lists": #"{"lists":[]}"#
      case "tags": #"{"tags":[]}"#
      default: "[]"
      }
    return .json(body, headers: ["ETag": tag])
  }

  private func client(
    _ clock: ManualClock, _ answer: @escaping @Sendable (HTTPRequest) throws -> HTTPResponse = { CacheTests.answer($0) }
  ) async throws -> (KithClient, ScriptedTransport) {
    let transport = ScriptedTransport { request, _ in try answer(request) }
    var retries = RetryPolicy()
    retries.sleep = { _ in }
    retries.now = { clock.now }
    let client = KithClient(baseURL: .server, tokens: MemoryTokenStore(), retries: retries, transport: transport)
    try await client.auth.sessions.start(.unlimited("u1"))
    return (client, transport)
  }

  /// The reads, as the tags that were sent with them; "" for none.
  private func tags(_ transport: ScriptedTransport) -> [String] {
    transport.requests.filter { $0.method == "GET" }.map { $0.headers["If-None-Match"] ?? "" }
  }

  @Test(arguments: areas) func anAnswerIsShownAgainWithinItsTime(area: Area) async throws {
    let clock = ManualClock()
    let (client, transport) = try await client(clock)
    try await area.read(client)
    guard area.seconds > 0 else {
      try await area.read(client)
      return #expect(tags(transport) == ["", Self.tag])
    }
    clock.advance(by: area.seconds - 1)
    try await area.read(client)
    #expect(tags(transport) == [""])
    clock.advance(by: 1)
    try await area.read(client)
    #expect(tags(transport) == ["", Self.tag])
    // It was confirmed, and so has its time again.
    clock.advance(by: area.seconds - 1)
    try await area.read(client)
    #expect(tags(transport) == ["", Self.tag])
    clock.advance(by: 1)
    try await area.read(client)
    #expect(tags(transport) == ["", Self.tag, Self.tag])
  }

  @Test(arguments: areas) func theUsersOwnChangeDropsIt(area: Area) async throws {
    let (client, transport) = try await client(ManualClock())
    try await area.read(client)
    try await area.change(client)
    try await area.read(client)
    #expect(tags(transport) == ["", ""])
  }

  @Test(arguments: areas) func aChangeWhoseAnswerWasLostDropsIt(area: Area) async throws {
    let (client, transport) = try await client(ManualClock()) { request in
      guard request.method == "GET" else { throw NoAnswer("lost") }
      return Self.answer(request)
    }
    try await area.read(client)
    await #expect(throws: KithFailure.unreachable("lost")) { try await area.change(client) }
    try await area.read(client)
    #expect(tags(transport) == ["", ""])
  }

  @Test(arguments: areas) func signingOutDropsIt(area: Area) async throws {
    let (client, transport) = try await client(ManualClock())
    try await area.read(client)
    await client.auth.signOut()
    await #expect(throws: KithFailure.signedOut) { try await area.read(client) }
    try await client.auth.sessions.start(.unlimited("u1"))
    try await area.read(client)
    #expect(tags(transport) == ["", ""])
  }

  @Test(arguments: areas) func anotherUserSeesNothingOfIt(area: Area) async throws {
    let (client, transport) = try await client(ManualClock())
    try await area.read(client)
    // Without having signed out.
    try await client.auth.sessions.start(.unlimited("u2"))
    try await area.read(client)
    #expect(tags(transport) == ["", ""])
  }

  @Test func aChangeOfOneAreaLeavesTheOthers() async throws {
    let (client, transport) = try await client(ManualClock())
    _ = try await client.adventures.plans()
    _ = try await client.adventures.hunts()
    try await client.adventures.deletePlan("p")
    _ = try await client.adventures.hunts()
    #expect(tags(transport).count == 2)
    _ = try await client.adventures.plans()
    #expect(tags(transport).count == 3)
  }

  /// The question was asked before the change, and may be answered with what was before it.
  @Test func anAnswerThatAChangeHasOvertakenIsNotKept() async throws {
    let cache = ResponseCache(now: { Date() })
    let key = ResponseCache.Key(user: "u", url: .server)
    let generation = await cache.generation
    await cache.remove([.plans])
    await cache.keep(.json("[]"), as: key, in: .plans, since: generation)
    #expect(await cache.entry(key) == nil)
    await cache.keep(.json("[]"), as: key, in: .plans, since: cache.generation)
    #expect(await cache.entry(key) != nil)
  }

  @Test func afterAStartTheFirstAnswerIsKeptForItsUser() async throws {
    let transport = ScriptedTransport { request, _ in
      request.url.path.hasSuffix("refresh")
        ? .json(#"{"access_token":"\#(TokenPair.unlimited("u1").accessToken)","refresh_token":"r2"}"#)
        : Self.answer(request)
    }
    let tokens = MemoryTokenStore(StoredSession(refreshToken: "r"))
    let client = KithClient(baseURL: .server, tokens: tokens, transport: transport)
    _ = try await client.adventures.plans()
    _ = try await client.adventures.plans()
    #expect(tags(transport) == [""])
  }

  @Test func aFreshAnswerIsShownWithoutANetwork() async throws {
    let (client, transport) = try await client(ManualClock()) { request in
      guard !request.url.path.hasSuffix("hunts") else { throw NoAnswer("offline") }
      return Self.answer(request)
    }
    _ = try await client.adventures.plans()
    await #expect(throws: KithFailure.unreachable("offline")) { try await client.adventures.hunts() }
    _ = try await client.adventures.plans()
    #expect(transport.requests.filter { $0.url.path.hasSuffix("plans") }.count == 1)
  }
}

/// A clock that a test moves.
///
/// `@unchecked Sendable`: `date` is only used under the lock.
final class ManualClock: @unchecked Sendable {
  private let lock = NSLock()
  private var date = Date(timeIntervalSince1970: 1_800_000_000)

  var now: Date { lock.withLock { date } }

  func advance(by seconds: Double) { lock.withLock { date += seconds } }
}

extension TokenPair {
  /// Tokens of a user that do not end.
  static func unlimited(_ user: String) -> TokenPair {
    let claims = Data(#"{"sub":"\#(user)"}"#.utf8).base64EncodedString().replacingOccurrences(of: "=", with: "")
    return TokenPair(accessToken: "e30.\(claims).c2ln", refreshToken: "r", expiresIn: nil)
  }
}
