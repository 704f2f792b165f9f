import Hummingbird
import Web
import Wire

/// Takes the body in before anything else is done, so that it can be read more than once: for its fields, and to compare
/// it with that of an earlier request under the same `Idempotency-Key`.
struct WholeBody: RouterMiddleware {
  typealias Context = SignedIn
  static let bytesMax = 64 * 1024
  var limit = bytesMax

  func handle(
    _ request: Request, context: SignedIn, next: (Request, SignedIn) async throws -> Response
  ) async throws -> Response {
    var request = request
    try await request.takeBody(upTo: limit)
    return try await next(request, context)
  }
}

extension Router<Context> {
  /// For routes of signed-in users.
  ///
  /// - Parameter bytesMax: how long a body may be.
  func forUsers(bytesMax: Int = WholeBody.bytesMax) -> RouterGroup<SignedIn> {
    group(context: SignedIn.self).add(middleware: WholeBody(limit: bytesMax))
  }
}
