import CPostgres
import Database
import Foundation

/// One libpq connection. It belongs to one thread at a time and knows nothing of pools.
///
/// Results come as text, times as text in UTC, `bytea` goes in and comes out as bytes. Statements are prepared once and
/// kept, the least recently prepared one making room.
final class Link {
  private let pointer: OpaquePointer
  private var prepared: [String: String] = [:]
  private var order: [String] = []
  private var counter = 0
  /// A commit was sent, and what became of it has not been read yet.
  private var isUnsettled = false
  /// What the server thinks is not known any more.
  private var isLost = false
  private static let preparedMax = 256

  /// - Throws: ``DatabaseFailure/unavailable`` within `connect_timeout` when nobody answers.
  init(url: String, schema: String, statementTimeoutMilliseconds: Int) throws {
    guard let pointer = Self.connect(url) else { throw DatabaseFailure.unavailable("out of memory") }
    self.pointer = pointer
    PQsetNoticeProcessor(pointer, { _, _ in }, nil)
    // Whatever is thrown from here on, `deinit` closes: all properties are set.
    guard isOpen else { throw DatabaseFailure.unavailable(Self.words(pointer)) }
    try script(
      """
      set client_encoding = 'UTF8'; set time zone 'UTC'; set datestyle = 'ISO'; set bytea_output = 'hex';
      set statement_timeout = \(statementTimeoutMilliseconds);
      set idle_in_transaction_session_timeout = \(statementTimeoutMilliseconds);
      set search_path = "\(schema)"
      """)
  }

  deinit { PQfinish(pointer) }

  var isOpen: Bool { PQstatus(pointer) == CONNECTION_OK && !isLost }

  var isInTransaction: Bool { transactionIsSound || PQtransactionStatus(pointer) == PQTRANS_INERROR }

  /// False once a statement of the open transaction has failed.
  var transactionIsSound: Bool { PQtransactionStatus(pointer) == PQTRANS_INTRANS }

  /// Several statements without bindings, in one implicit transaction.
  func script(_ text: String) throws {
    try settle()
    let result = PQexec(pointer, text)
    defer { PQclear(result) }
    try check(result)
  }

  /// Ends a transaction that has only read, without waiting for the answer: the next statement takes it up.
  func endReading() {
    isUnsettled = PQsendQuery(pointer, "commit") == 1
    if !isUnsettled { isLost = true }
  }

  /// - Parameter begin: what begins a transaction; it goes with the statement in one round trip.
  func rows(_ sql: SQL, beginningWith begin: String? = nil) throws -> [Row] {
    let result = try execute(sql, begin)
    defer { PQclear(result) }
    let columns = (0..<PQnfields(result)).map { String(cString: PQfname(result, $0)) }
    let types = (0..<PQnfields(result)).map { PQftype(result, $0) }
    return (0..<PQntuples(result)).map { row in
      Row(columns: columns, values: types.indices.map { Value(result, row, Int32($0), types[$0]) })
    }
  }

  @discardableResult func change(_ sql: SQL, beginningWith begin: String? = nil) throws -> Int {
    let result = try execute(sql, begin)
    defer { PQclear(result) }
    return Int(String(cString: PQcmdTuples(result))) ?? 0
  }

  private func execute(_ sql: SQL, _ begin: String?) throws -> OpaquePointer? {
    try settle()
    let name = try prepare(sql.text)
    let parameters = try Parameters(sql.bindings)
    let result = try parameters.withPointers { values, lengths, formats in
      let count = Int32(sql.bindings.count)
      guard let begin else { return PQexecPrepared(pointer, name, count, values, lengths, formats, 0) }
      return try following(begin) { PQsendQueryPrepared(pointer, name, count, values, lengths, formats, 0) }
    }
    do { try check(result) } catch {
      PQclear(result)
      throw error
    }
    return result
  }

  /// Sends `begin` and a statement at once (libpq's pipeline mode) and returns what became of the statement.
  private func following(_ begin: String, _ send: () -> Int32) throws -> OpaquePointer? {
    guard PQenterPipelineMode(pointer) == 1, PQsendQueryParams(pointer, begin, 0, nil, nil, nil, nil, 0) == 1,
      send() == 1, PQpipelineSync(pointer) == 1
    else { throw lost() }
    let begun = PQgetResult(pointer)
    defer { PQclear(begun) }
    do { try check(begun) } catch {
      // Whatever kept a transaction from beginning: nothing is known of what follows.
      isLost = true
      throw error
    }
    guard PQgetResult(pointer) == nil else { throw lost() }
    let result = PQgetResult(pointer)
    guard result == nil || PQgetResult(pointer) == nil else {
      PQclear(result)
      throw lost()
    }
    let end = PQgetResult(pointer)
    defer { PQclear(end) }
    // Where the connection broke there is no end, and the result says why.
    if PQresultStatus(end) != PGRES_PIPELINE_SYNC || PQexitPipelineMode(pointer) != 1 { isLost = true }
    return result
  }

  /// Reads what became of the commit that was not waited for. It committed nothing but reading, so if the connection has
  /// broken since, nothing is lost but the connection.
  private func settle() throws {
    guard isUnsettled else { return }
    isUnsettled = false
    var isSound = true
    while let result = PQgetResult(pointer) {
      isSound = isSound && PQresultStatus(result) == PGRES_COMMAND_OK
      PQclear(result)
    }
    guard isSound, isOpen else { throw lost() }
  }

  private func lost() -> DatabaseFailure {
    isLost = true
    return .unavailable(Self.words(pointer))
  }

  private func prepare(_ text: String) throws -> String {
    if let name = prepared[text] { return name }
    if order.count >= Self.preparedMax, let name = prepared.removeValue(forKey: order.removeFirst()) {
      try script("deallocate \(name)")
    }
    counter += 1
    let name = "s\(counter)"
    let result = PQprepare(pointer, name, text, 0, nil)
    defer { PQclear(result) }
    try check(result)
    prepared[text] = name
    order.append(text)
    return name
  }

  private func check(_ result: OpaquePointer?) throws {
    switch PQresultStatus(result) {
    case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: return
    default: throw PostgresFailure.of(result, connectionIsOpen: isOpen, words: Self.words(pointer))
    }
  }

  /// Bounds how long a server that does not answer can hold the thread, unless the URL says otherwise.
  private static func connect(_ url: String) -> OpaquePointer? {
    let defaults = [
      ("dbname", url), ("connect_timeout", "3"), ("keepalives_idle", "10"), ("keepalives_interval", "3"),
      ("keepalives_count", "3"), ("tcp_user_timeout", "10000"), ("fallback_application_name", "kith"),
    ]
    // With expand_dbname the URL in `dbname` is taken apart, and what stands before it in the list is the default.
    let ordered = defaults.dropFirst() + defaults.prefix(1)
    let keys = ordered.map { strdup($0.0) } + [nil]
    let values = ordered.map { strdup($0.1) } + [nil]
    defer { for string in keys + values { free(string) } }
    return PQconnectdbParams(keys.map { UnsafePointer($0) }, values.map { UnsafePointer($0) }, 1)
  }

  private static func words(_ pointer: OpaquePointer) -> String {
    String(cString: PQerrorMessage(pointer)).trimmingCharacters(in: .whitespacesAndNewlines)
      .replacingOccurrences(of: "\n", with: " ")
  }
}
