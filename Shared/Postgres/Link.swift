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

  /// - Parameter settings: further ones of this session, as SQL.
  /// - Throws: ``DatabaseFailure/unavailable`` within `connect_timeout` when nobody answers.
  init(url: String, schema: String, statementTimeoutMilliseconds: Int, settings: String = "") throws {
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
      set search_path = "\(schema)"; \(settings)
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

  /// Runs statements in one round trip: all of them are sent before the first answer is read (libpq's pipeline mode). The
  /// first that fails keeps those after it from running.
  ///
  /// - Parameters:
  ///   - begin: what begins a transaction; it goes before them.
  ///   - end: what ends it; it goes after them.
  /// - Returns: what each of `statements` returned.
  /// - Throws: what the first failed with.
  @discardableResult
  func run(_ statements: [SQL], after begin: String? = nil, before end: String? = nil) throws -> [Answer] {
    try settle()
    let names = try prepare(statements.map(\.text))
    let parameters = try statements.map { try Parameters($0.bindings) }
    if let name = names.first, names.count == 1, begin == nil, end == nil {
      return [
        try answer(
          parameters[0].withPointers { count, values, lengths, formats in
            PQexecPrepared(pointer, name, count, values, lengths, formats, 0)
          })
      ]
    }
    let isSent =
      PQenterPipelineMode(pointer) == 1 && begin.map(send) ?? true
      && zip(names, parameters).allSatisfy(send) && end.map(send) ?? true && PQpipelineSync(pointer) == 1
    guard isSent else { throw lost() }
    let answers = Result {
      if begin != nil { try begun() }
      let answers = try names.map { _ in try pipelinedAnswer() }
      if end != nil { _ = try pipelinedAnswer() }
      return answers
    }
    leavePipeline()
    return try answers.get()
  }

  private func send(_ text: String) -> Bool { PQsendQueryParams(pointer, text, 0, nil, nil, nil, nil, 0) == 1 }

  private func send(_ name: String, _ parameters: Parameters) -> Bool {
    parameters.withPointers { count, values, lengths, formats in
      PQsendQueryPrepared(pointer, name, count, values, lengths, formats, 0) == 1
    }
  }

  /// Whatever kept a transaction from beginning: nothing is known of what follows.
  private func begun() throws {
    do { _ = try pipelinedAnswer() } catch {
      isLost = true
      throw error
    }
  }

  /// What comes back of one statement, up to the nil that ends it.
  private func pipelinedAnswer() throws -> Answer {
    let result = PQgetResult(pointer)
    guard result == nil || PQgetResult(pointer) == nil else {
      PQclear(result)
      throw lost()
    }
    return try answer(result)
  }

  /// Reads past the statements that did not run any more. Where the connection broke there is no end to them, and the
  /// statement that failed says why.
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

  private func answer(_ result: OpaquePointer?) throws -> Answer {
    let answer = Answer(result)
    try check(result)
    return answer
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

  /// The names of statements, all of which the server knows at the end: one that is prepared may push out another.
  ///
  /// - Throws: ``DatabaseFailure/other`` for more than are kept.
  private func prepare(_ texts: [String]) throws -> [String] {
    guard texts.count <= Self.preparedMax else { throw DatabaseFailure.other("too many statements at once") }
    while true {
      let names = try texts.map { try prepare($0) }
      if zip(texts, names).allSatisfy({ prepared[$0] == $1 }) { return names }
    }
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
