import CPostgres
import Foundation

/// Executes one statement outside a transaction, such as creating a database or terminating a connection.
package func executeSQL(_ url: String, _ statement: String) async throws {
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
