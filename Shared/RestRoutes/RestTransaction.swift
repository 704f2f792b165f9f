import Database
import Foundation
import RestQueries
import Synchronization
import Tokens
import Web
import Wire

/// The database of a service, and the request with an `Idempotency-Key` whose answer it repeats.
package struct RestTransaction: Sendable {
  package let database: any Database
  private let idempotency: Idempotency
  private var call: IdempotentCall?

  package init(_ database: any Database, _ idempotency: Idempotency) {
    self.database = database
    self.idempotency = idempotency
  }

  /// Answers a request with an `Idempotency-Key`, or repeats what was answered to it before, without the checks that
  /// precede a write. A refusal that would be the same again is stored, too.
  func once(
    _ call: IdempotentCall, _ answer: (RestTransaction) async throws -> RestAnswer
  ) async throws -> RestAnswer {
    if let stored = try await idempotency.reply(to: call) { return try RestAnswer(stored) }
    var transaction = self
    transaction.call = call
    do { return try await answer(transaction) } catch let failure as RestFailure where failure.isPermanent {
      let reply = try Reply(failure.answer())
      return try RestAnswer(try await idempotency.once(call) { _ in reply })
    }
  }

  /// Answers without rules beyond the table's declaration.
  package func answer(_ operation: RestOperation, for caller: RestQueries.Caller) async throws -> RestAnswer {
    let engine = database.engine
    guard operation.isRead else { return try await write { try operation.answer(for: caller, on: $0, engine) } }
    return try await operation.read(for: caller, in: database)
  }

  /// Writes in one transaction, which also stores the answer for a repetition of the request.
  package func write(
    _ body: @escaping @Sendable (any Connection) throws -> RestAnswer
  ) async throws -> RestAnswer {
    guard let call else { return try await database.write(body) }
    let made = MadeAnswer()
    let reply = try await idempotency.once(call) { db in
      let answer = try body(db)
      made.answer.withLock { $0 = answer }
      return try Reply(answer)
    }
    // What was done is known of an answer that is not repeated.
    if !reply.isRepeated, let answer = made.answer.withLock({ $0 }) { return answer }
    return try RestAnswer(reply)
  }

  /// That of the last attempt of a transaction.
  private final class MadeAnswer: Sendable {
    let answer = Mutex<RestAnswer?>(nil)
  }
}

extension RestFailure {
  /// As for other failures: who is not allowed, what is not there, and what is there already.
  fileprivate var isPermanent: Bool { [403, 404, 409].contains(status) }
}

extension Reply {
  /// What is stored of an answer has no headers but the content type, of which the others are a parameter.
  fileprivate init(_ answer: RestAnswer) throws {
    let headers = Dictionary(answer.headers.map { ($0.name, $0.value) }) { $1 }
    let parameter = Base64URL.encode(try JSON.encode(headers))
    self.init(
      status: answer.status, contentType: (answer.header("content-type") ?? "") + Self.headersMark + parameter,
      body: Data(answer.body))
  }

  fileprivate static let headersMark = ";kith-headers="

  /// Those of the answer; of a failure that another dialect has stored, and of what was stored by older processes, the
  /// content type alone.
  fileprivate var headers: [(name: String, value: String)] {
    get throws {
      guard let mark = contentType.range(of: Self.headersMark),
        let bytes = Base64URL.decode(Array(contentType[mark.upperBound...].utf8))
      else { return (contentType.isEmpty ? [] : [("content-type", contentType)]) + [("content-range", "*/*")] }
      return try JSON.decode([String: String].self, from: Data(bytes)).sorted { $0.key < $1.key }
        .map { ($0.key, $0.value) }
    }
  }
}

extension RestAnswer {
  fileprivate init(_ reply: Reply) throws {
    let hit = reply.isRepeated ? [("idempotency-hit", "true")] : []
    self.init(status: reply.status, headers: try reply.headers + hit, body: Array(reply.body), changedKeys: [])
  }
}
