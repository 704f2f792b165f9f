import CPostgres
import Database
import Foundation

/// One libpq connection, used by one thread at a time.
///
/// Results are in text format, times are text in UTC, `bytea` is converted from and to bytes. Statements are prepared
/// once and kept; when there are too many, the one that was prepared first is deallocated.
final class ConnectionHandle {
  let pointer: OpaquePointer
  /// Sent at the beginning of each transaction where a session does not outlive one; nil for a session of our own.
  private let transactionSettings: SQL?
  private var prepared: [String: String] = [:]
  private var preparationOrder: [String] = []
  private var counter = 0
  private var planAge = PlanAge()
  private let replication = ReplicationWarnings()
  /// A commit was sent whose result has not been read yet.
  private var hasUnreadCommit = false
  /// The state of the connection is unknown: it must not be used again.
  private var isLost = false
  private static let preparedMax = 256

  /// - Throws: ``DatabaseFailure/unavailable`` within `connect_timeout` when no server responds.
  init(_ url: PostgresURL, _ settings: SessionSettings) throws {
    guard let pointer = Self.connect(url.text) else { throw DatabaseFailure.unavailable("out of memory") }
    self.pointer = pointer
    transactionSettings = url.isPooledByTransaction ? settings.transactionStatement : nil
    replication.receive(from: pointer)
    // All properties are set: `deinit` closes the connection whatever is thrown from here on.
    guard isOpen else { throw DatabaseFailure.unavailable(Self.errorMessage(pointer)) }
    if transactionSettings == nil { try script(settings.sessionScript) }
  }

  deinit { PQfinish(pointer) }

  var isOpen: Bool { PQstatus(pointer) == CONNECTION_OK && !isLost }

  var isInTransaction: Bool { isTransactionHealthy || PQtransactionStatus(pointer) == PQTRANS_INERROR }

  /// False once a statement of the open transaction has failed.
  var isTransactionHealthy: Bool { PQtransactionStatus(pointer) == PQTRANS_INTRANS }

  /// Runs several statements without bindings in one implicit transaction.
  func script(_ text: String) throws {
    try readUnreadCommit()
    let result = PQexec(pointer, text)
    defer { PQclear(result) }
    try check(result)
  }

  /// Commits a read-only transaction without waiting for the result, which is read before the next statement.
  func commitWithoutWaiting() {
    hasUnreadCommit = PQsendQuery(pointer, "commit") == 1
    if !hasUnreadCommit { isLost = true }
  }

  /// Runs statements in one round trip: all are sent before the first result is read (libpq's pipeline mode).
  /// Statements after the first failure do not run.
  ///
  /// - Parameters:
  ///   - begin: a statement that begins a transaction; it is sent before `statements`.
  ///   - end: a statement that ends it; it is sent after `statements`.
  /// - Returns: the result of each of `statements`.
  /// - Throws: the first failure.
  @discardableResult
  func run(_ statements: [SQL], after begin: SQL? = nil, before end: SQL? = nil) throws -> [QueryResult] {
    try readUnreadCommit()
    try discardOldPlans()
    planAge.countExecutions(statements.count)
    var (begin, end) = (begin, end)
    let hasOwnTransaction = transactionSettings != nil && begin == nil && !isInTransaction
    if hasOwnTransaction {
      (begin, end) = ("begin isolation level repeatable read read only", "commit")
    }
    let opening = begin.map { [$0] + (transactionSettings.map { [$0] } ?? []) } ?? []
    let all = opening + statements + (end.map { [$0] } ?? [])
    let names = transactionSettings == nil ? try prepare(all.map(\.text)) : all.map { _ in "" }
    let parameters = try all.map { try Parameters($0.bindings) }
    if transactionSettings == nil, let name = names.first, names.count == 1 {
      let result = try runAlone(all[0], named: name, parameters[0])
      return statements.isEmpty ? [] : [result]
    }
    let isSent =
      PQenterPipelineMode(pointer) == 1
      && all.indices.allSatisfy({ send(all[$0].text, named: names[$0], parameters[$0]) })
      && PQpipelineSync(pointer) == 1
    guard isSent else { throw markLost() }
    let results = Result {
      if let begin { try readBeginResult(of: begin) }
      for statement in opening.dropFirst() { _ = try nextPipelineResult(of: statement) }
      let results = try statements.map { try nextPipelineResult(of: $0) }
      if let end { _ = try nextPipelineResult(of: end) }
      return results
    }
    leavePipeline()
    if hasOwnTransaction { rollBackUnended() }
    return try results.get()
  }

  /// The server has skipped the end of a transaction when a statement before it failed: it would refuse all that comes.
  private func rollBackUnended() {
    guard isOpen, isInTransaction else { return }
    do { try script("rollback") } catch { isLost = true }
  }

  /// Runs a prepared statement without a pipeline.
  private func runAlone(_ statement: SQL, named name: String, _ parameters: Parameters) throws -> QueryResult {
    guard statement.resultBytesMax != nil else {
      return try checkedResult(
        parameters.withPointers { count, values, lengths, formats in
          PQexecPrepared(pointer, name, count, values, lengths, formats, 0)
        })
    }
    guard send(statement.text, named: name, parameters) else { throw markLost() }
    let result = Result { try nextResult(of: statement) }
    while !isLost, let other = PQgetResult(pointer) { PQclear(other) }
    return try result.get()
  }

  /// A statement without a name is parsed with each execution, and belongs to no session.
  private func send(_ text: String, named name: String, _ parameters: Parameters) -> Bool {
    parameters.withPointers { count, values, lengths, formats in
      name.isEmpty
        ? PQsendQueryParams(pointer, text, count, nil, values, lengths, formats, 0) == 1
        : PQsendQueryPrepared(pointer, name, count, values, lengths, formats, 0) == 1
    }
  }

  /// Discards the connection when the transaction did not begin: the outcome of the statements after it is unknown. A
  /// server that has become a standby since it was connected to does not begin one that writes.
  private func readBeginResult(of begin: SQL) throws {
    do { _ = try nextPipelineResult(of: begin) } catch {
      isLost = true
      guard case DatabaseFailure.other(let message) = error else { throw error }
      throw DatabaseFailure.unavailable(message)
    }
  }

  /// Reads the result of one statement, up to the nil that ends it. After a failure the nil is read with the end of the
  /// pipeline.
  private func nextPipelineResult(of statement: SQL) throws -> QueryResult {
    let result = try nextResult(of: statement)
    if let other = PQgetResult(pointer) {
      PQclear(other)
      throw markLost()
    }
    return result
  }

  /// Reads the result of one statement. The rows of one with a bound arrive one by one (libpq's single-row mode), so
  /// that what is beyond it is never in memory: it is not read, and the connection is closed.
  private func nextResult(of statement: SQL) throws -> QueryResult {
    guard statement.resultBytesMax != nil else { return try checkedResult(PQgetResult(pointer)) }
    guard PQsetSingleRowMode(pointer) == 1 else { throw markLost() }
    var rows = BoundedRows(of: statement)
    var columns: [String]?
    while let next = PQgetResult(pointer) {
      guard PQresultStatus(next) == PGRES_SINGLE_TUPLE else { return try checkedResult(next, after: rows.rows) }
      let result = QueryResult(next)
      let known = columns ?? result.columns
      columns = known
      do { try rows.append(result.storedRow(known)) } catch {
        isLost = true
        throw error
      }
    }
    throw markLost()
  }

  /// Reads past the statements that were not run. On a broken connection the end of the pipeline never arrives; the
  /// error of the failed statement gives the reason.
  private func leavePipeline() {
    guard !isLost else { return }
    var endings = 0
    while endings < 2 {
      guard let result = PQgetResult(pointer) else {
        endings += 1
        continue
      }
      endings = 0
      defer { PQclear(result) }
      guard PQresultStatus(result) != PGRES_PIPELINE_SYNC else {
        isLost = PQexitPipelineMode(pointer) != 1
        return
      }
    }
    isLost = true
  }

  private func checkedResult(_ result: OpaquePointer?, after rows: [Row] = []) throws -> QueryResult {
    let queryResult = QueryResult(result, after: rows)
    try check(result)
    return queryResult
  }

  /// Reads the result of a commit that was not waited for. Its transaction was read-only, so when the connection has
  /// broken since, no change is lost.
  private func readUnreadCommit() throws {
    guard hasUnreadCommit else { return }
    hasUnreadCommit = false
    var isCommitted = true
    while let result = PQgetResult(pointer) {
      isCommitted = isCommitted && PQresultStatus(result) == PGRES_COMMAND_OK
      PQclear(result)
    }
    guard isCommitted, isOpen else { throw markLost() }
  }

  private func markLost() -> DatabaseFailure {
    isLost = true
    return .unavailable(Self.errorMessage(pointer))
  }

  /// Whether the server has given up waiting for its standby since the last call: what was committed since then is
  /// lost if the standby takes over.
  func takeReplicationWarning() -> Bool { replication.take() }

  /// Prepared statements are planned again at their next execution.
  private func discardOldPlans() throws {
    guard transactionSettings == nil, !isInTransaction, planAge.isOver() else { return }
    try script("discard plans")
    planAge = planAge.renewed()
  }

  /// The names of prepared statements, all of which are prepared on return: preparing one may deallocate another.
  ///
  /// - Throws: ``DatabaseFailure/other`` for more statements than can be prepared at once.
  private func prepare(_ texts: [String]) throws -> [String] {
    guard texts.count <= Self.preparedMax || Set(texts).count <= Self.preparedMax else {
      throw DatabaseFailure.other("too many statements at once")
    }
    while true {
      let counterBefore = counter
      let names = try texts.map { try prepare($0) }
      // Where none was prepared, none was deallocated.
      if counter == counterBefore || zip(texts, names).allSatisfy({ prepared[$0] == $1 }) { return names }
    }
  }

  private func prepare(_ text: String) throws -> String {
    if let name = prepared[text] { return name }
    if preparationOrder.count >= Self.preparedMax,
      let name = prepared.removeValue(forKey: preparationOrder.removeFirst())
    {
      try script("deallocate \(name)")
    }
    counter += 1
    let name = "s\(counter)"
    let result = PQprepare(pointer, name, text, 0, nil)
    defer { PQclear(result) }
    try check(result)
    prepared[text] = name
    preparationOrder.append(text)
    return name
  }

  private func check(_ result: OpaquePointer?) throws {
    switch PQresultStatus(result) {
    case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: return
    default:
      throw PostgresFailure.failure(
        for: result, connectionIsOpen: isOpen, connectionMessage: Self.errorMessage(pointer))
    }
  }

  /// Limits how long a server that does not respond can block the thread, unless the URL sets other limits.
  private static func connect(_ url: String) -> OpaquePointer? {
    var defaults = [
      ("dbname", url), ("connect_timeout", "3"), ("keepalives_idle", "10"), ("keepalives_interval", "3"),
      ("keepalives_count", "3"), ("tcp_user_timeout", "10000"), ("client_encoding", "UTF8"),
      ("fallback_application_name", "kith"),
    ]
    if let file = TrustedAuthorities().file(for: url) { defaults.append(("sslrootcert", file)) }
    // With expand_dbname the URL in `dbname` is parsed, and the entries before it in the list are the defaults.
    let ordered = defaults.dropFirst() + defaults.prefix(1)
    let keys = ordered.map { strdup($0.0) } + [nil]
    let values = ordered.map { strdup($0.1) } + [nil]
    defer { for string in keys + values { free(string) } }
    return PQconnectdbParams(keys.map { UnsafePointer($0) }, values.map { UnsafePointer($0) }, 1)
  }

  private static func errorMessage(_ pointer: OpaquePointer) -> String {
    String(cString: PQerrorMessage(pointer)).trimmingCharacters(in: .whitespacesAndNewlines)
      .replacingOccurrences(of: "\n", with: " ")
  }
}
