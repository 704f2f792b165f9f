import Database
import Foundation
import Support
import Testing

/// A query that takes too long, over HTTP.
@Suite struct StatementTimeoutTests {
  @Test(arguments: engines) func itIs503AndOthersAreAnsweredMeanwhile(_ engine: Engine) async throws {
    try await withStack(engine, wrapDatabase: { EndlessDatabase(inner: $0) }) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      try await alice.insert("saved_places", #"{"name": "Here"}"#)
      // Not of the gateway, which would not wait much longer than the statement lasts.
      let direct = stack.adventures.bearing(alice.access)
      async let endless = direct.get("/rest/v1/saved_places?name=eq.\(EndlessDatabase.name)")
      for number in 1...5 {
        try await bob.insert("saved_places", #"{"name": "Place \#(number)"}"#)
        #expect(try await bob.count("saved_places") == number)
        #expect(try await alice.count("saved_places") == 1)
      }
      let refused = try await endless
      #expect(refused.status == 503 && refused.contractCode == "NOT_CONNECTED", "\(refused.status) \(refused.text)")
      #expect(refused.headers.first(name: "retry-after") != nil)
      #expect(!refused.text.contains("timeout") && !refused.text.contains("interrupt"))
      #expect(try await alice.count("saved_places") == 1)
    }
  }

  /// One more than SQLite has readers: two of one person's run at a time. The gateway would not wait for the last.
  @Test(arguments: engines) func nobodyOccupiesAllReaders(_ engine: Engine) async throws {
    try await withStack(engine, wrapDatabase: { EndlessDatabase(inner: $0) }) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      try await bob.insert("saved_places", #"{"name": "Here"}"#)
      let direct = stack.adventures.bearing(alice.access)
      let ended = Flag()
      async let endless = atOnce(5) { _ in
        let status = try await direct.get("/rest/v1/saved_places?name=eq.\(EndlessDatabase.name)").status
        ended.raise()
        return status
      }
      try await Task.sleep(for: .seconds(1))
      for _ in 1...3 { #expect(try await bob.count("saved_places") == 1) }
      #expect(!ended.isRaised, "bob has waited for none of them")
      let statuses = try await endless
      #expect(statuses == Array(repeating: 503, count: 5))
    }
  }
}

/// Changes whose conditions take long.
@Suite struct ChangeTimeoutTests {
  /// SQLite has one writer, which a change of a request has for two seconds.
  @Test(arguments: engines.filter { $0 == .sqlite }) func nobodyWaitsLongForTheWriter(_ engine: Engine) async throws {
    try await withStack(engine, wrapDatabase: { EndlessDatabase(inner: $0) }) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let path = "/rest/v1/saved_places?name=eq.\(EndlessDatabase.name)"
      let direct = stack.adventures.bearing(alice.access)
      async let endless = atOnce(3) { _ in
        try await direct.send(.PATCH, path, body: Data(#"{"category": "x"}"#.utf8)).status
      }
      try await Task.sleep(for: .milliseconds(500))
      let start = ContinuousClock.now
      try await bob.insert("saved_places", #"{"name": "Here"}"#)
      // After the two that were there before.
      #expect(ContinuousClock.now - start < .seconds(7))
      #expect(try await endless == [503, 503, 503])
    }
  }

  @Test(arguments: engines.filter { $0 == .postgres }) func nobodyOccupiesAllConnections(_ engine: Engine) async throws
  {
    try await withStack(engine, wrapDatabase: { EndlessDatabase(inner: $0) }) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let path = "/rest/v1/saved_places?name=eq.\(EndlessDatabase.name)"
      let direct = stack.adventures.bearing(alice.access)
      let ended = Flag()
      async let endless = atOnce(20) { number in
        let body = Data(#"{"category": "x"}"#.utf8)
        let reply =
          number.isMultiple(of: 2)
          ? try await direct.send(.PATCH, path, body: body) : try await direct.send(.DELETE, path)
        ended.raise()
        return reply.status
      }
      try await Task.sleep(for: .seconds(1))
      for number in 1...3 {
        try await bob.insert("saved_places", #"{"name": "Place \#(number)"}"#)
        #expect(try await bob.count("saved_places") == number)
      }
      #expect(!ended.isRaised, "bob has waited for none of them")
      // Those that had no turn before the deadline of requests are 504.
      #expect(Set(try await endless).isSubset(of: [503, 504]))
    }
  }
}

/// A database in which a statement that names ``name`` does not end by itself.
private struct EndlessDatabase: Database {
  let inner: any Database
  static let name = "endless"

  var engine: Engine { inner.engine }

  func read<T: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> T) async throws -> T {
    let engine = engine
    return try await inner.read { try body(EndlessConnection(inner: $0, engine: engine)) }
  }

  @discardableResult
  func write<T: Sendable>(
    _ isolation: Isolation, _ body: @escaping @Sendable (any Connection) throws -> T
  ) async throws -> T {
    let engine = engine
    return try await inner.write(isolation) { try body(EndlessConnection(inner: $0, engine: engine)) }
  }

  func migrate(_ migrations: [Migration]) async throws { try await inner.migrate(migrations) }
  func truncateWriteAheadLog() async throws { try await inner.truncateWriteAheadLog() }
  func close() async { await inner.close() }
}

private struct EndlessConnection: Connection {
  let inner: any Connection
  let engine: Engine

  func rows(_ sql: SQL) throws -> [Row] {
    guard sql.bindings.contains(EndlessDatabase.name.binding) else { return try inner.rows(sql) }
    let endless: SQL =
      engine == .sqlite
      ? "with recursive n (i) as (select 1 union all select i + 1 from n) select count(*) as count from n"
      : "select pg_sleep(600)"
    return try inner.rows(endless.composedForRequest)
  }

  func change(_ sql: SQL) throws -> Int { try inner.change(sql) }
}
