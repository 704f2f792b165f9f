import Database
import Foundation
import Hummingbird
import Web
import Wire

/// Changes as requests ask for them: one transaction each, once for an `Idempotency-Key`, answered with names.
struct Once: Sendable {
  let idempotency: Idempotency
  let acquaintances: Acquaintances
  private static let triesMax = 6

  /// - Parameter effect: the whole change, with the answer to it. It runs again, from the start, after somebody in the
  ///   answer had to be asked about, and after somebody else has taken the same `client_id` a moment ago.
  func answer(
    _ request: Request, _ context: SignedIn,
    _ effect: @escaping @Sendable (any Connection, Acquaintances) throws -> Reply
  ) async throws -> Response {
    try await answer(request, context, asking: {}) { db, acquaintances, _ in try effect(db, acquaintances) }
  }

  /// - Parameter asking: what must be known, or counted, before the change. A repeat under the same key is answered
  ///   without it.
  func answer<Asked: Sendable>(
    _ request: Request, _ context: SignedIn, asking: () async throws -> Asked,
    _ effect: @escaping @Sendable (any Connection, Acquaintances, Asked) throws -> Reply
  ) async throws -> Response {
    var request = request
    // ``WholeBody`` has taken in no more than the route allows.
    let call = try await request.idempotentCall(by: context.user.description, context, bytesMax: .max)
    var asked: Asked?
    let check = {
      if let asked { return asked }
      let answer = try await asking()
      asked = answer
      return answer
    }
    for _ in 0..<Self.triesMax {
      do {
        let reply = try await idempotency.once(call, check: check) { [acquaintances] asked, db in
          try effect(db, acquaintances, asked)
        }
        var response = reply.response
        if reply.status == Reply.nothing.status {
          (response.headers[.contentType], response.headers[.contentLength]) = (nil, nil)
        }
        if let version = reply.version { response.headers[.eTag] = EntityTag.of(reply.body, version: version) }
        return response
      } catch let strangers as Unacquainted {
        try await acquaintances.meet(strangers.ids)
      } catch DatabaseFailure.unique("task_client_id") {}
    }
    throw Failure.unavailable
  }
}

extension Reply {
  /// It is done, and there is nothing to show.
  static let nothing = Reply(status: 204, contentType: "", body: Data())
}

/// A sentence that says what has been done.
struct MessageBody: Encodable {
  let message: String
}
