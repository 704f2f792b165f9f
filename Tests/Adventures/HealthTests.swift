import Database
import Foundation
import Support
import Synchronization
import Testing

@testable import Adventures

/// What the functions of health say of the services beside this one.
@Suite struct HealthTests {
  private static let closedPort = "http://127.0.0.1:1"

  @Test(arguments: engines) func aServiceThatIsAwayIsNamedUntilItIsBack(_ engine: Engine) async throws {
    try await withStack(engine, TestStack.eventsURL) { stack in
      let alice = try await stack.signIn("alice")
      // The gateway would not find the others either.
      let app = stack.adventures.bearing(alice.access)
      let addresses = stack.dependencies.serviceAddresses
      try await expect("healthy", [], from: app, auth: "healthy", storage: "healthy", realtime: "healthy")
      addresses.set(.groups, to: Self.closedPort)
      try await expect(
        "degraded", ["The service groups is not ready."], from: app, auth: "healthy", storage: "unhealthy",
        realtime: "healthy")
      addresses.set(.groups, to: stack.groups.base)
      addresses.set(.auth, to: Self.closedPort)
      addresses.set(.events, to: Self.closedPort)
      try await expect(
        "degraded", ["The service auth is not ready.", "The service events is not ready."], from: app,
        auth: "unhealthy", storage: "healthy", realtime: "unhealthy")
      addresses.set(.auth, to: stack.auth.base)
      addresses.set(.events, to: stack.events.base)
      try await expect("healthy", [], from: app, auth: "healthy", storage: "healthy", realtime: "healthy")
    }
  }

  @Test(arguments: engines) func withoutItsDatabaseItIsUnhealthy(_ engine: Engine) async throws {
    try await withStack(engine, TestStack.eventsURL) { stack in
      let alice = try await stack.signIn("alice")
      try await alice.insert("saved_places", #"{"name": "Here"}"#)
      let addresses = stack.dependencies.serviceAddresses
      let availability = Availability()
      try await stack.withAdventures(wrapDatabase: { UnreliableDatabase(inner: $0, availability: availability) }) {
        browser in
        let app = browser.bearing(alice.access)
        try await expect("healthy", [], from: app, auth: "healthy", storage: "healthy", realtime: "healthy")
        let counts = try await app.get("/rest/v1/rpc/health_check_detailed")["table_counts"] as? [String: Any]
        #expect(counts?.int("saved_places") == 1)

        availability.isAvailable = false
        #expect(try await app.get("/rest/v1/saved_places").status == 503)
        let away = "The database does not answer."
        try await expect(
          "unhealthy", [away], from: app, auth: "healthy", storage: "healthy", realtime: "healthy",
          database: "unhealthy")
        let unknown = try await app.get("/rest/v1/rpc/health_check_detailed")["tableCounts"] as? [String: Any]
        #expect(unknown?.isEmpty == true)
        // It stays the worst of several.
        addresses.set(.groups, to: Self.closedPort)
        try await expect(
          "unhealthy", [away, "The service groups is not ready."], from: app, auth: "healthy", storage: "unhealthy",
          realtime: "healthy", database: "unhealthy")

        availability.isAvailable = true
        addresses.set(.groups, to: stack.groups.base)
        try await expect("healthy", [], from: app, auth: "healthy", storage: "healthy", realtime: "healthy")
        #expect(try await app.get("/rest/v1/saved_places").list.count == 1)
      }
    }
  }

  /// What was answered before holds for some seconds.
  private func expect(
    _ status: String, _ errors: [String], from app: Browser, auth: String, storage: String, realtime: String,
    database: String = "healthy"
  ) async throws {
    let function = "/rest/v1/rpc/health_check"
    var (short, detailed) = (try await app.get(function), try await app.get("\(function)_detailed"))
    // On a busy machine a service may not answer in time now and then.
    try await eventually("\(status) \(errors)") {
      (short, detailed) = (try await app.get(function), try await app.get("\(function)_detailed"))
      return short["error"] as? String == errors.first && detailed["errors"] as? [String] == errors
    }
    #expect(detailed.status == 200 && detailed.string("status") == status, "\(detailed.text)")
    #expect(detailed.string("auth") == auth && detailed.string("storage") == storage, "\(detailed.text)")
    #expect(detailed["error"] as? String == errors.first, "\(detailed.text)")
    #expect(short.string("status") == status && short["error"] as? String == errors.first, "\(short.text)")
    for reply in [short, detailed] {
      let services = try #require(reply["services"] as? [String: Any])
      #expect(services.text("realtime") == realtime && services.text("database") == database, "\(reply.text)")
    }
  }

  @Test(arguments: engines) func withoutEventsThereAreNoChannels(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      try await eventually("health") {
        try await alice.rest(.GET, "rpc/health_check").string("status") == "healthy"
      }
      let health = try await alice.rest(.GET, "rpc/health_check")
      #expect((health["services"] as? [String: Any])?.text("realtime") == "unavailable", "\(health.text)")
    }
  }

  @Test func fiftyWhoAskAtOnceAreAnsweredByOneProbe() async throws {
    let probed = Mutex<[String]>([])
    let probes = ServiceProbes(of: [.auth, .groups], lifetime: .seconds(600)) { service in
      probed.withLock { $0.append(service.rawValue) }
      // Longer than all of them need to ask.
      do { try await Task.sleep(for: .milliseconds(200)) } catch {}
      return service != .groups
    }
    let answers = try await atOnce(50) { _ in await probes.unready().map(\.rawValue) }
    #expect(answers == Array(repeating: ["groups"], count: 50))
    #expect(await probes.unready() == [.groups])
    #expect(probed.withLock { $0.sorted() } == ["auth", "groups"])
  }

  @Test func anAnswerThatIsOldIsNotUsed() async throws {
    let count = Mutex(0)
    let probes = ServiceProbes(of: [.auth], lifetime: .zero) { _ in
      count.withLock { count in
        count += 1
        return count > 1
      }
    }
    #expect(await probes.unready() == [.auth])
    #expect(await probes.unready() == [])
  }
}

/// Whether a database answers.
private final class Availability: Sendable {
  private let state = Mutex(true)

  var isAvailable: Bool {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}

private struct UnreliableDatabase: Database {
  let inner: any Database
  let availability: Availability

  var engine: Engine { inner.engine }

  func read<T: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> T) async throws -> T {
    try requireAnswer()
    return try await inner.read(body)
  }

  @discardableResult
  func write<T: Sendable>(
    _ isolation: Isolation, _ body: @escaping @Sendable (any Connection) throws -> T
  ) async throws -> T {
    try requireAnswer()
    return try await inner.write(isolation, body)
  }

  private func requireAnswer() throws {
    guard availability.isAvailable else { throw DatabaseFailure.unavailable("away") }
  }

  func migrate(_ migrations: [Migration]) async throws { try await inner.migrate(migrations) }
  func truncateWriteAheadLog() async throws { try await inner.truncateWriteAheadLog() }
  func close() async { await inner.close() }
}
