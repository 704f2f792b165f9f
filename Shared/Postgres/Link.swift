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

  var isOpen: Bool { PQstatus(pointer) == CONNECTION_OK }

  /// False once a statement of the open transaction has failed.
  var transactionIsSound: Bool { PQtransactionStatus(pointer) == PQTRANS_INTRANS }

  /// Several statements without bindings, in one implicit transaction.
  func script(_ text: String) throws {
    let result = PQexec(pointer, text)
    defer { PQclear(result) }
    try check(result)
  }

  func rows(_ sql: SQL) throws -> [Row] {
    let result = try execute(sql)
    defer { PQclear(result) }
    let columns = (0..<PQnfields(result)).map { String(cString: PQfname(result, $0)) }
    let types = (0..<PQnfields(result)).map { PQftype(result, $0) }
    return (0..<PQntuples(result)).map { row in
      Row(columns: columns, values: types.indices.map { Self.value(result, row, Int32($0), types[$0]) })
    }
  }

  @discardableResult func change(_ sql: SQL) throws -> Int {
    let result = try execute(sql)
    defer { PQclear(result) }
    return Int(String(cString: PQcmdTuples(result))) ?? 0
  }

  private func execute(_ sql: SQL) throws -> OpaquePointer? {
    let name = try prepare(sql.text)
    let parameters = try Parameters(sql.bindings)
    let result = parameters.withPointers { values, lengths, formats in
      PQexecPrepared(pointer, name, Int32(sql.bindings.count), values, lengths, formats, 0)
    }
    do { try check(result) } catch {
      PQclear(result)
      throw error
    }
    return result
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

  private static func value(_ result: OpaquePointer?, _ row: Int32, _ column: Int32, _ type: Oid) -> Value {
    guard PQgetisnull(result, row, column) == 0, let start = PQgetvalue(result, row, column) else { return .null }
    let length = Int(PQgetlength(result, row, column))
    let bytes = UnsafeBufferPointer(start: start, count: length).map { UInt8(bitPattern: $0) }
    let text = String(decoding: bytes, as: UTF8.self)
    switch type {
    case 20, 21, 23: return Int64(text).map(Value.integer) ?? .text(text)  // int8, int2, int4
    case 16: return .integer(text == "t" ? 1 : 0)  // bool
    case 17: return .bytes(unhex(bytes.dropFirst(2)))  // bytea, "\x…"
    case 1184: return .text(time(text))  // timestamptz
    default: return .text(text)
    }
  }

  private static func unhex(_ digits: ArraySlice<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 2)
    var high: UInt8?
    for digit in digits {
      let nibble = digit & 0xF &+ (digit > 0x39 ? 9 : 0)
      if let first = high {
        bytes.append(first << 4 | nibble)
        high = nil
      } else {
        high = nibble
      }
    }
    return bytes
  }

  /// `2026-11-21 08:15:30.5+00`, as PostgreSQL writes it in UTC, with the `T` and `Z` of RFC 3339.
  private static func time(_ text: String) -> String {
    text.hasSuffix("+00") ? text.dropLast(3).replacingOccurrences(of: " ", with: "T") + "Z" : text
  }
}

/// Bindings as libpq wants them: one block of memory, pointers into it, text terminated by NUL.
private struct Parameters {
  private var storage: [CChar] = []
  private var offsets: [Int?] = []
  private var lengths: [Int32] = []
  private var formats: [Int32] = []

  init(_ bindings: [Value]) throws {
    for binding in bindings {
      switch binding {
      case .null: append(nil, format: 0)
      case .integer(let number): append(String(number).utf8.map { CChar(bitPattern: $0) }, format: 0)
      case .text(let text):
        guard !text.utf8.contains(0) else { throw DatabaseFailure.nulInText }
        append(text.utf8.map { CChar(bitPattern: $0) }, format: 0)
      case .bytes(let bytes): append(bytes.map { CChar(bitPattern: $0) }, format: 1)
      }
    }
  }

  private mutating func append(_ bytes: [CChar]?, format: Int32) {
    offsets.append(bytes == nil ? nil : storage.count)
    lengths.append(Int32(clamping: bytes?.count ?? 0))
    formats.append(format)
    if let bytes { storage += bytes + [0] }
  }

  func withPointers<T>(
    _ body: (UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) -> T
  ) -> T {
    storage.withUnsafeBufferPointer { storage in
      let values = offsets.map { offset in offset.flatMap { storage.baseAddress?.advanced(by: $0) } }
      return body(values, lengths, formats)
    }
  }
}
