import Database

/// What a body asks for in a single round trip. The server makes a transaction of it by itself, of the kind that the
/// connection has as its default: all statements see one snapshot, and none of them writes.
final class SingleRead: Connection {
  private let lane: Lane
  private var hasAsked = false

  init(on lane: Lane) { self.lane = lane }

  func rows(_ sql: SQL) throws -> [Row] { try run([sql]).flatMap(\.rows) }
  func change(_ sql: SQL) throws -> Int { throw DatabaseFailure.other("a read changes nothing") }
  func rows(of statements: [SQL]) throws -> [[Row]] { try run(statements).map(\.rows) }
  func later(_ sql: SQL) throws { throw DatabaseFailure.other("a read changes nothing") }

  private func run(_ statements: [SQL]) throws -> [Answer] {
    guard !hasAsked else { throw DatabaseFailure.other("a single read asked twice") }
    hasAsked = true
    let first = try lane.connected()
    do { return try first.run(statements) } catch DatabaseFailure.unavailable where !first.isOpen {
      // While it lay idle, or under way: reading again is safe.
      lane.drop()
      return try lane.connected().run(statements)
    }
  }
}
