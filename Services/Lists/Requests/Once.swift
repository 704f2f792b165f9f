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
    try await answer(request, context, first: {}) { call, _ in
      try await idempotency.once(call) { [acquaintances] db in try effect(db, acquaintances) }
    }
  }

  /// - Parameter steps: what other services do before the change, safe to repeat. They are taken once for a key, and a
  ///   twin under the same key is refused while they are.
  func answer<Step: Sendable>(
    _ request: Request, _ context: SignedIn, steps: () async throws -> Step,
    _ effect: @escaping @Sendable (any Connection, Acquaintances, Step) throws -> Reply
  ) async throws -> Response {
    try await answer(request, context, first: steps) { call, steps in
      try await idempotency.claimed(call, steps: steps) { [acquaintances] step, db in
        try effect(db, acquaintances, step)
      }
    }
  }

  private func answer<Step: Sendable>(
    _ request: Request, _ context: SignedIn, first steps: () async throws -> Step,
    _ reply: (IdempotentCall?, () async throws -> Step) async throws -> Reply
  ) async throws -> Response {
    var request = request
    // ``WholeBody`` has taken in no more than the route allows.
    let call = try await request.idempotentCall(by: context.user.description, context, bytesMax: .max)
    var taken: Step?
    let take = {
      if let taken { return taken }
      let step = try await steps()
      taken = step
      return step
    }
    for _ in 0..<Self.triesMax {
      do {
        let reply = try await reply(call, take)
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
