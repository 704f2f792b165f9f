import Database

/// The settings of a session that statements rely on.
struct SessionSettings: Sendable {
  let schema: String
  let statementTimeoutMilliseconds: Int
  /// For statements outside of a transaction: one that reads a snapshot.
  let readsByDefault: Bool

  /// Nothing is compiled (`jit`): a statement that a request composes may look expensive, and compiling it takes seconds
  /// where executing it takes milliseconds.
  private var values: [(name: String, value: String)] {
    [
      ("jit", "off"),
      ("timezone", "UTC"), ("datestyle", "ISO"), ("bytea_output", "hex"),
      ("statement_timeout", String(statementTimeoutMilliseconds)),
      ("idle_in_transaction_session_timeout", String(statementTimeoutMilliseconds)), ("search_path", "\"\(schema)\""),
    ]
      + (readsByDefault
        ? [("default_transaction_isolation", "repeatable read"), ("default_transaction_read_only", "on")] : [])
  }

  /// Sets them until the connection is closed.
  var sessionScript: String {
    "select " + values.map { "set_config('\($0.name)', '\($0.value)', false)" }.joined(separator: ", ")
  }

  /// Sets them until the end of the transaction.
  var transactionStatement: SQL {
    // The default of later transactions is not that of this one.
    let calls = values.filter { !$0.name.hasPrefix("default_transaction") }
      .map { "set_config('\($0.name)', '\($0.value)', true)" }
    return SQL(stringLiteral: "select " + calls.joined(separator: ", "))
  }
}
