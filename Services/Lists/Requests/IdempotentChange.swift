import Clients
import Database
import Foundation
import Hummingbird
import Web
import Wire

/// Runs the change that a request asks for: in one transaction, once per `Idempotency-Key`. Names of users in the reply
/// are fetched from auth outside of the transaction.
struct IdempotentChange: Sendable {
  let idempotency: Idempotency
  let peopleCache: PeopleCache
  private static let attemptsMax = 6

  /// - Parameter effect: the whole change, which returns the reply. It runs again in a new transaction when a user of
  ///   the reply was not cached, and when a concurrent request has created a task with the same `client_id`.
  func response(
    to request: Request, _ context: SignedIn,
    _ effect: @escaping @Sendable (any Connection, PeopleCache) throws -> Reply
  ) async throws -> Response {
    try await response(to: request, context, prepare: {}) { call, _ in
      try await idempotency.once(call) { [peopleCache] db in try effect(db, peopleCache) }
    }
  }

  /// - Parameter preparation: calls to other services before the change, safe to repeat. They are made once per key; a
  ///   concurrent request with the same key is refused meanwhile.
  func response<Prepared: Sendable>(
    to request: Request, _ context: SignedIn, preparation: () async throws -> Prepared,
    _ effect: @escaping @Sendable (any Connection, PeopleCache, Prepared) throws -> Reply
  ) async throws -> Response {
    try await response(to: request, context, prepare: preparation) { call, prepare in
      try await idempotency.claimed(call, steps: prepare) { [peopleCache] prepared, db in
        try effect(db, peopleCache, prepared)
      }
    }
  }

  private func response<Prepared: Sendable>(
    to request: Request, _ context: SignedIn, prepare: () async throws -> Prepared,
    _ reply: (IdempotentCall?, () async throws -> Prepared) async throws -> Reply
  ) async throws -> Response {
    var request = request
    // ``BufferedBodyMiddleware`` has already limited the body to the size that the route allows.
    let call = try await request.idempotentCall(by: context.user.description, context, bytesMax: .max)
    var prepared: Prepared?
    let prepareOnce = {
      if let prepared { return prepared }
      let result = try await prepare()
      prepared = result
      return result
    }
    for _ in 0..<Self.attemptsMax {
      do {
        let reply = try await reply(call, prepareOnce)
        var response = reply.response
        if reply.status == Reply.noContent.status {
          (response.headers[.contentType], response.headers[.contentLength]) = (nil, nil)
        }
        if let version = reply.version { response.headers[.eTag] = EntityTag.of(reply.body, version: version) }
        return response
      } catch let error as PeopleNotCached {
        try await peopleCache.fetch(error.ids)
      } catch DatabaseFailure.unique("task_client_id") {}
    }
    throw Failure.unavailable
  }
}

extension Reply {
  /// A successful response without a body.
  static let noContent = Reply(status: 204, contentType: "", body: Data())
}

/// The JSON of a response that contains only a message.
struct MessageBody: Encodable {
  let message: String
}
