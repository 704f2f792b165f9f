import Database

/// A connection URL for libpq, which may name several hosts, and the parameter that only Kith knows: `pgbouncer=true`.
struct PostgresURL: Sendable, Hashable {
  /// The URL without the parameters that libpq does not know.
  let text: String
  /// Between the client and the server is PgBouncer in transaction mode: a session ends with its transaction, so neither
  /// prepared statements nor settings outlive it.
  let isPooledByTransaction: Bool

  /// - Throws: ``DatabaseFailure/unusable`` when `pgbouncer` is neither true nor false.
  init(_ url: String) throws {
    guard let question = url.firstIndex(of: "?") else {
      (text, isPooledByTransaction) = (url, false)
      return
    }
    var (kept, isPooled) = ([Substring](), false)
    for parameter in url[url.index(after: question)...].split(separator: "&") {
      switch parameter {
      case "pgbouncer=true": isPooled = true
      case "pgbouncer=false": isPooled = false
      case _ where parameter.hasPrefix("pgbouncer="):
        throw DatabaseFailure.unusable("DATABASE_URL: pgbouncer must be true or false")
      default: kept.append(parameter)
      }
    }
    text = url[..<question] + (kept.isEmpty ? "" : "?" + kept.joined(separator: "&"))
    isPooledByTransaction = isPooled
  }
}
