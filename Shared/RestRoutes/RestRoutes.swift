import Foundation
import Hummingbird
import NIOCore
import RestQueries
import Web
import Wire

/// Mounts the tables of a service under `/rest/v1`, with the verbs that their declarations allow.
///
/// ```swift
/// RestRoutes(schema, in: database, maxAge: ["adventure_plans": 1800], now: now).add(to: routes)
/// ```
package struct RestRoutes: Sendable {
  /// Answers a request of a user. Writes go through the transaction: one with an `Idempotency-Key` happens once.
  package typealias Answering =
    @Sendable (RestRequest, UserID, RestTransaction) async throws -> RestAnswer

  private let schema: RestSchema
  private let transaction: RestTransaction
  private let maxAge: [String: Int]
  private let bodyBytesMax: Int
  private let answering: Answering
  private let turns = RequestTurns()

  /// - Parameters:
  ///   - transaction: where writes happen.
  ///   - maxAge: by table, for how many seconds a client may show what it has read without asking again. Other tables
  ///     are asked again each time, which `ETag` makes cheap.
  ///   - answering: answers requests whose table has rules beyond its declaration.
  package init(
    _ schema: RestSchema, in transaction: RestTransaction, maxAge: [String: Int] = [:],
    bodyBytesMax: Int = 1024 * 1024, answering: @escaping Answering
  ) {
    self.schema = schema
    self.transaction = transaction
    self.maxAge = maxAge
    self.bodyBytesMax = bodyBytesMax
    self.answering = answering
  }

  package func add(to routes: HTTPRoutes) {
    let signedInRoutes = routes.group(context: SignedIn.self)
    for table in schema.tables {
      // The router makes the routes for HEAD.
      for method in RestRequest.Method.allCases where method != .head && table.allows(method) {
        guard let httpMethod = HTTPRequest.Method(rawValue: method.rawValue) else { continue }
        signedInRoutes.on("/rest/v1/\(table.name)", method: httpMethod) { request, context in
          try await response(to: request, table.name, of: context)
        }
      }
    }
  }

  private func response(to request: Request, _ table: String, of context: SignedIn) async throws -> Response {
    do {
      let (restRequest, call) = try await restRequest(from: request, to: table, context)
      try await turns.begin(context.user)
      defer { turns.end(context.user) }
      if let call {
        return Response(try await transaction.once(call) { try await answering(restRequest, context.user, $0) })
      }
      let answer = try await answering(restRequest, context.user, transaction)
      let response = Response(answer)
      return restRequest.isRead ? cacheable(response, answer, of: table, for: request) : response
    } catch let failure as RestFailure {
      return failure.response()
    }
  }

  private func restRequest(
    from request: Request, to table: String, _ context: SignedIn
  ) async throws -> (RestRequest, IdempotentCall?) {
    guard let method = RestRequest.Method(rawValue: request.method.rawValue) else { throw Failure.notFound }
    var request = request
    var restRequest = RestRequest(
      method, table, query: request.uri.query ?? "", accept: request.header(.accept),
      contentType: request.header(.contentType), prefer: request.headers[values: .prefer],
      range: request.header(.range), rangeUnit: request.header(.rangeUnit),
      profile: request.header(request.method == .get || request.method == .head ? .acceptProfile : .contentProfile))
    // Clients send a body with GET and DELETE, too, which has no meaning.
    guard restRequest.hasBody else { return (restRequest, nil) }
    restRequest.body = Array(buffer: try await request.bufferBody(upTo: bodyBytesMax))
    guard method == .post else { return (restRequest, nil) }
    let call = try await request.idempotentCall(by: context.user.description, context, bytesMax: bodyBytesMax)
    return (restRequest, call)
  }

  /// The response to a read with its tag, or 304 when the client has the same.
  private func cacheable(
    _ response: Response, _ answer: RestAnswer, of table: String, for request: Request
  ) -> Response {
    var response = response
    // A HEAD is answered without the body that a tag would be of.
    if request.method == .get {
      let tag = answer.entityTag
      let isUnchanged = answer.status == 200 && request.ifNoneMatchIncludes(tag, .lenient)
      if isUnchanged { response = Response(status: .notModified) }
      response.headers[.eTag] = tag
    }
    response.headers[.cacheControl] = maxAge[table].map { "private, max-age=\($0)" } ?? "private, no-cache"
    response.headers[.vary] = "Authorization, Accept, Prefer, Range"
    return response
  }
}

extension RestRoutes {
  /// For tables without further rules.
  ///
  /// - Parameter maxAge: as above.
  package init(
    _ schema: RestSchema, in transaction: RestTransaction, maxAge: [String: Int] = [:],
    now: @escaping @Sendable () -> Date
  ) {
    self.init(schema, in: transaction, maxAge: maxAge) { request, user, transaction in
      let operation = try RestOperation(request, in: schema)
      return try await transaction.answer(operation, for: RestQueries.Caller(user, at: now()))
    }
  }
}
