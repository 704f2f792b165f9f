import CPostgres
import Foundation

/// Runs one statement outside any transaction: creating a database, ending a connection.
package func administer(_ url: String, _ statement: String) async throws {
  try await Task.detached {
    let connection = PQconnectdb(url)
    defer { PQfinish(connection) }
    let result = PQexec(connection, statement)
    defer { PQclear(result) }
    let status = PQresultStatus(result)
    guard status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK else {
      throw Unexpected(reply: String(cString: PQerrorMessage(connection)))
    }
  }.value
}
