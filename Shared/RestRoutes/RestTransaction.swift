import Database
import Foundation
import RestQueries
import Web

/// The database of a service, and the request with an `Idempotency-Key` whose answer it repeats.
package struct RestTransaction: Sendable {
  package let database: any Database
  private let idempotency: Idempotency
  private var call: IdempotentCall?

  package init(_ database: any Database, _ idempotency: Idempotency) {
    self.database = database
    self.idempotency = idempotency
  }

  func repeating(_ call: IdempotentCall?) -> RestTransaction {
    var transaction = self
    transaction.call = call
    return transaction
  }

  /// Answers without rules beyond the table's declaration.
  package func answer(_ operation: RestOperation, for caller: RestQueries.Caller) async throws -> RestAnswer {
    let engine = database.engine
    guard operation.isRead else { return try await write { try operation.answer(for: caller, on: $0, engine) } }
    return try await database.readOnce { try operation.answer(for: caller, on: $0, engine) }
  }

  /// Writes in one transaction, which also stores the answer for a repetition of the request.
  package func write(
    _ body: @escaping @Sendable (any Connection) throws -> RestAnswer
  ) async throws -> RestAnswer {
    guard let call else { return try await database.write(body) }
    let reply = try await idempotency.once(call) { db in try Reply(try body(db)) }
    return try RestAnswer(reply)
  }
}

extension Reply {
  /// Status and body, and the headers that are not derived from them.
  fileprivate init(_ answer: RestAnswer) throws {
    self.init(
      status: answer.status, contentType: answer.header("content-type") ?? "", body: Data(answer.body))
  }
}

extension RestAnswer {
  fileprivate init(_ reply: Reply) throws {
    var headers: [(name: String, value: String)] = []
    if !reply.contentType.isEmpty { headers.append(("content-type", reply.contentType)) }
    headers.append(("content-range", "*/*"))
    if reply.isRepeated { headers.append(("idempotency-hit", "true")) }
    self.init(status: reply.status, headers: headers, body: Array(reply.body), changedKeys: [])
  }
}
