import Adventures
import Auth
import Credits
import Database
import Events
import Foundation
import Gateway
import Groups
import Invites
import Lists
import Logging
import ServiceLifecycle
import Testing
import Timepoints
import Web
import Wire

/// All services and the gateway in this process, on separate ports with real sockets.
package struct TestStack: Sendable {
  package let testDatabase: TestDatabase
  package let clock: TestClock
  package let apple: KeyServer
  package let dependencies: Dependencies
  /// The gateway, which apps use. The others are the services themselves.
  package let gateway: Browser
  package let auth: Browser
  package let invites: Browser
  package let groups: Browser
  package let lists: Browser
  package let credits: Browser
  package let events: Browser
  package let adventures: Browser
  package let timepoints: Browser
  package let servers: [Server]

  package static let adminKey = "an admin key for tests, 0123456789abcdef"
  package static let keys = [
    "gateway": "gateway-key-0123456789-0123456789-abc", "auth": "auth-key-0123456789-0123456789-abcdef",
    "credits": "credits-key-0123456789-0123456789-abc", "invites": "invites-key-0123456789-0123456789-ab",
    "groups": "groups-key-0123456789-0123456789-abcd", "lists": "lists-key-0123456789-0123456789-abcde",
    "events": "events-key-0123456789-0123456789-abcd",
    "adventures": "adventures-key-0123456789-0123456789-a", "timepoints": "timepoints-key-0123456789-0123456789-a",
    "billing+credits": "billing-key-0123456789-0123456789-ab", "sync+act": "sync-key-0123456789-0123456789-abcdef",
    "plain": "plain-key-0123456789-0123456789-abcde",
  ]

  package static func settings(_ testDatabase: TestDatabase, appleKeys: String) -> Settings {
    Settings(
      testDatabase.settings.merging([
        "DATA_KEYS": "test:data key for tests 0123456789 abcdefghij",
        "JWT_SECRET_KEY": "a test secret that is long enough 0123456789",
        "SERVICE_KEYS": keys.sorted { $0.key < $1.key }.map { "\($0):\($1)" }.joined(separator: ","),
        "ADMIN_API_KEY": adminKey, "APPLE_BUNDLE_ID": "com.example.kith,com.example.other", "PORT": "0",
        "APPLE_JWKS_URL": appleKeys,
        // Rate limits are tested elsewhere.
        "RATE_LIMIT": "1000000", "RATE_LIMIT_USER": "1000000", "RATE_LIMIT_SIGN_IN": "1000000",
        "RATE_LIMIT_REFRESH": "1000000",
      ]) { $1 })
  }

  /// Signs in a user with the developer token route.
  package func signIn(_ name: String) async throws -> SignedInUser {
    let reply = try await gateway.with(["X-Admin-Key": Self.adminKey])
      .post("/api/v1/auth/dev/token", ["email": "\(name)@example.com", "display_name": name])
    guard reply.status == 200 else { throw Unexpected(reply: reply.text) }
    return try await SignedInUser(reply, through: gateway)
  }

  /// As ``TestDatabase/count(_:in:)``.
  package func count(_ rows: SQL, in service: String) async throws -> Int {
    try await testDatabase.count(rows, in: service)
  }

  /// The header with the service key of `name`.
  package func with(key name: String) -> [String: String] { ["X-Service-Key": Self.keys[name] ?? ""] }

  /// The dependencies of a process that sends the service key of `name`.
  package func dependencies(of name: String) -> Dependencies {
    dependencies.with(dependencies.settings.overlaid(["SERVICE_KEY": Self.keys[name] ?? ""]))
  }
}

/// The error of test helpers, with an unexpected reply or another reason.
package struct Unexpected: Error, CustomStringConvertible {
  package let reply: String
  /// With line breaks, for readers of the test log.
  package var description: String { "unexpected: \(reply)" }

  package init(reply: String) { self.reply = reply }
}

/// The tokens of a signed-in user, and a browser that sends the access token.
package struct SignedInUser: Sendable {
  package let id: UserID
  package let access: String
  package let refresh: String
  package let browser: Browser

  package init(_ reply: Browser.Reply, through gateway: Browser) async throws {
    access = reply.string("access_token")
    refresh = reply.string("refresh_token")
    browser = gateway.bearing(access)
    guard let id = UserID(try await browser.get("/api/v1/auth/me").string("id")) else {
      throw Unexpected(reply: reply.text)
    }
    self.id = id
  }

  private init(_ user: SignedInUser, through gateway: Browser) {
    id = user.id
    access = user.access
    refresh = user.refresh
    browser = gateway.bearing(user.access)
  }

  /// The same user, with the same tokens, at another gateway.
  package func through(_ gateway: Browser) -> SignedInUser { SignedInUser(self, through: gateway) }
}

/// Runs all services and the gateway while `body` runs.
///
/// - Parameters:
///   - logger: gets the log of all services.
///   - pollInterval: after what time services look for work that no signal has told of. Short, as work is due by a clock
///     that tests move.
///   - isApart: whether the gateway calls the services by their addresses, as in processes of their own, which a test of
///     outages changes. By default only on PostgreSQL; on SQLite it calls them as in `kith`.
///   - wrapDatabase: wraps the database of each service.
///   - prepare: fills the databases before the services start.
package func withStack(
  _ engine: Engine, _ overrides: [String: String] = [:], logger: Logger = quiet,
  pollInterval: Duration = .seconds(1), isApart: Bool? = nil,
  wrapDatabase: @escaping @Sendable (any Database) -> any Database = { $0 },
  prepare: (TestDatabase) async throws -> Void = { _ in }, _ body: (TestStack) async throws -> Void
) async throws {
  try await withTestDatabase(engine, isMigrated: true) { testDatabase in
    try await prepare(testDatabase)
    try await withKeyServer { apple in
      let clock = TestClock()
      let settings = TestStack.settings(testDatabase, appleKeys: apple.url).overlaid(overrides)
      let dependencies = Dependencies(
        settings, logger: logger, pollInterval: pollInterval, now: { clock.now }, wrapDatabase: wrapDatabase)
      func within(_ name: String) -> Dependencies {
        dependencies.with(settings.overlaid(["SERVICE_KEY": TestStack.keys[name] ?? ""]))
      }
      let servers = [
        try await buildAuth(within("auth")), try await buildInvites(within("invites")),
        try await buildGroups(within("groups")), try await buildLists(within("lists")),
        try await buildCredits(within("credits")), try await buildEvents(within("events")),
        try await buildAdventures(within("adventures")), try await buildTimepoints(within("timepoints")),
      ]
      let isApart = isApart ?? (engine == .postgres)
      let local = isApart ? [:] : Dictionary(servers.map { ($0.service, $0.local) }) { $1 }
      let gateway = try buildGateway(within("gateway"), local: local)
      try await running((servers as [any Service]) + [gateway]) {
        let addresses = dependencies.serviceAddresses
        var urls: [ServiceName: String] = [:]
        for server in servers {
          let url = "http://127.0.0.1:\(try await server.port.number)"
          urls[server.service] = url
          // With sockets they have been known from the beginning.
          if settings.nonempty("SOCKET_DIR") == nil { addresses.set(server.service, to: url) }
        }
        func browser(_ service: ServiceName) -> Browser { Browser(urls[service] ?? "") }
        let stack = TestStack(
          testDatabase: testDatabase, clock: clock, apple: apple, dependencies: dependencies,
          gateway: Browser("http://127.0.0.1:\(try await gateway.port.number)"), auth: browser(.auth),
          invites: browser(.invites), groups: browser(.groups), lists: browser(.lists),
          credits: browser(.credits), events: browser(.events),
          adventures: browser(.adventures), timepoints: browser(.timepoints), servers: servers)
        try await stack.ready()
        try await body(stack)
      }
    }
  }
}

extension TestStack {
  /// Waits until every service is ready.
  fileprivate func ready() async throws {
    for browser in [auth, invites, groups, lists, credits, events, adventures, timepoints, gateway] {
      try await eventually { try await browser.get("/health/ready").status == 200 }
    }
  }
}

/// Runs services while `body` runs, then shuts them down gracefully as on SIGTERM.
package func running<T>(_ services: [any Service], _ body: () async throws -> T) async throws -> T {
  let group = ServiceGroup(configuration: .init(services: services.map { .init(ofType: $0) }, logger: quiet))
  let running = Task { try await group.run() }
  do {
    let result = try await body()
    try await stop(group, running)
    return result
  } catch {
    // `try?`: the error of the test is the one to report.
    try? await stop(group, running)
    throw error
  }
}

/// Services that do not stop are a failure of the test.
private func stop(_ group: ServiceGroup, _ running: Task<Void, any Error>) async throws {
  await group.triggerGracefulShutdown()
  let limit = Task {
    try await Task.sleep(for: .seconds(240))
    Issue.record("the services did not stop in four minutes")
    running.cancel()
  }
  defer { limit.cancel() }
  try await running.value
}

/// Polls until a condition is true.
///
/// - Throws: ``Unexpected`` after `limit`; a minute leaves time on a busy machine.
package func eventually(
  _ what: @autoclosure () -> String = "it", within limit: Duration = .seconds(60),
  _ condition: () async throws -> Bool
) async throws {
  let end = ContinuousClock.now + limit
  while true {
    // Read before the condition, which is thus checked once more after the limit, however long the machine stalled.
    let isLast = ContinuousClock.now >= end
    if try await condition() { return }
    guard !isLast else { throw Unexpected(reply: "\(what()) did not come") }
    try await Task.sleep(for: .milliseconds(20))
  }
}

/// Advances the clock in steps until a condition is true, but not while a message is leased: a delay of some fifty
/// milliseconds on a busy machine would otherwise be enough for its lease of some fifty seconds to expire.
///
/// - Parameters:
///   - step: much less than a lease.
///   - leased: how many messages are leased.
package func eventually(
  _ what: String, passing step: Duration, on clock: TestClock, leased: () async throws -> Int,
  _ condition: () async throws -> Bool
) async throws {
  try await eventually(what) {
    if try await leased() == 0 { clock.advance(by: step) }
    return try await condition()
  }
}

/// One grapheme cluster of eight kilobytes.
package let characterWithMarks = "e" + String(repeating: "\u{301}", count: 4000)

/// Whether `body` takes less than `limit`, in up to three attempts, as a busy machine can slow down any one.
package func isDone(within limit: Duration, _ body: () async throws -> Void) async rethrows -> Bool {
  for _ in 0..<3 {
    let startedAt = ContinuousClock.now
    try await body()
    if ContinuousClock.now - startedAt < limit { return true }
  }
  return false
}

/// Runs `body` `count` times concurrently.
package func atOnce<T: Sendable>(_ count: Int, _ body: @escaping @Sendable (Int) async throws -> T) async throws -> [T]
{
  try await withThrowingTaskGroup(of: T.self) { group in
    for index in 0..<count { group.addTask { try await body(index) } }
    return try await group.reduce(into: []) { $0.append($1) }
  }
}
