import CPostgres
import Foundation

/// Executes one statement outside a transaction, such as creating a database or terminating a connection.
package func executeSQL(_ url: String, _ statement: String) async throws {
  // On a thread of its own: tasks have as many threads as there are processors, and all of them would wait meanwhile.
  try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
    Thread { continuation.resume(with: Result { try execute(statement, at: url) }) }.start()
  }
}

private func execute(_ statement: String, at url: String) throws {
  let connection = PQconnectdb(url)
  defer { PQfinish(connection) }
  let result = PQexec(connection, statement)
  defer { PQclear(result) }
  let status = PQresultStatus(result)
  guard status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK else {
    throw Unexpected(reply: String(cString: PQerrorMessage(connection)))
  }
}
