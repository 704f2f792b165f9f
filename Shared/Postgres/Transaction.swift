import Database

/// One transaction on a lane's connection. It begins with its first statement, in the same round trip; a body without
/// any has none.
final class Transaction: Connection {
  private let lane: Lane
  private let begin: String
  /// Since the first statement.
  private var link: Link?
  /// The first statement failed before the transaction had begun, or one that was to be sent with another.
  private var isBroken = false
  /// To be sent with the next statement, or the commit.
  private var delayed: [SQL] = []

  init(on lane: Lane, begin: String) {
    self.lane = lane
    self.begin = begin
  }

  func run<T>(_ body: (any Connection) throws -> T) throws -> T {
    do { return try body(self) } catch {
      rollBack()
      throw error
    }
  }

  func rows(_ sql: SQL) throws -> [Row] { try run([sql]).flatMap(\.rows) }
  func change(_ sql: SQL) throws -> Int { try run([sql]).first?.count ?? 0 }
  func rows(of statements: [SQL]) throws -> [[Row]] { try run(statements).map(\.rows) }

  func later(_ sql: SQL) throws {
    try requireWhole()
    delayed.append(sql)
  }

  private func run(_ statements: [SQL]) throws -> [Answer] {
    try requireWhole()
    let delayed = takeDelayed()
    guard !(delayed + statements).isEmpty else { return [] }
    do { return try begun(with: delayed + statements).suffix(statements.count) } catch {
      // Some of them may not even have been sent.
      if !delayed.isEmpty { isBroken = true }
      throw error
    }
  }

  private func sendDelayed() throws {
    do { _ = try run([]) } catch {
      rollBack()
      throw error
    }
  }

  private func takeDelayed() -> [SQL] {
    defer { delayed = [] }
    return delayed
  }

  private func begun(with statements: [SQL]) throws -> [Answer] {
    if let link { return try link.run(statements) }
    do { return try first(statements) } catch {
      // Whatever the body does next must not happen outside of a transaction.
      isBroken = !(link?.isInTransaction ?? false)
      throw error
    }
  }

  /// A connection that broke while it lay idle shows at the first statement, when nothing can have been committed: a
  /// second one is tried.
  private func first(_ statements: [SQL]) throws -> [Answer] {
    let first = try connected()
    do { return try first.run(statements, after: begin) } catch DatabaseFailure.unavailable where !first.isInTransaction
    {
      lane.drop()
      return try connected().run(statements, after: begin)
    }
  }

  private func connected() throws -> Link {
    let connected = try lane.connected()
    link = connected
    return connected
  }

  /// - Throws: ``DatabaseFailure/outcomeUnknown`` when the connection breaks before the answer.
  func commit() throws {
    try requireWhole()
    if link == nil { try sendDelayed() }
    guard let link else { return }
    do {
      try requireSound(link)
      try link.run(takeDelayed(), before: "commit")
    } catch let failure as DatabaseFailure {
      guard link.isOpen else {
        lane.drop()
        throw DatabaseFailure.outcomeUnknown
      }
      rollBack()
      throw failure
    }
  }

  /// Nothing hangs on how a transaction ends that has only read, so nobody waits for it.
  func endReading() throws {
    try requireWhole()
    try sendDelayed()
    guard let link else { return }
    do { try requireSound(link) } catch {
      rollBack()
      throw error
    }
    link.endReading()
  }

  /// A commit of a transaction in which a statement failed answers ROLLBACK: a body that swallowed the error must not
  /// believe that its work was kept.
  private func requireSound(_ link: Link) throws {
    guard link.transactionIsSound else { throw Self.bodyWentOn }
  }

  private func requireWhole() throws {
    guard isBroken else { return }
    rollBack()
    throw Self.bodyWentOn
  }

  private static let bodyWentOn = DatabaseFailure.other("a statement failed and the body went on")

  private func rollBack() {
    guard let link else { return }
    guard link.isOpen else { return lane.drop() }
    guard link.isInTransaction else { return }
    do { try link.script("rollback") } catch { lane.drop() }
  }
}
