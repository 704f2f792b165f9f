import Hummingbird
import Web
import Wire

/// Buffers the body, so that it can be read more than once: for its fields, and to compare it with that of an earlier
/// request with the same `Idempotency-Key`.
struct BufferedBodyMiddleware: RouterMiddleware {
  typealias Context = SignedIn
  static let bytesMax = 64 * 1024
  var limitBytes = bytesMax

  func handle(
    _ request: Request, context: SignedIn, next: (Request, SignedIn) async throws -> Response
  ) async throws -> Response {
    var request = request
    try await request.bufferBody(upTo: limitBytes)
    return try await next(request, context)
  }
}

extension HTTPRoutes {
  /// A group of routes for signed-in users.
  ///
  /// - Parameter bytesMax: the largest body, in bytes.
  func forUsers(bytesMax: Int = BufferedBodyMiddleware.bytesMax) -> RouterGroup<SignedIn> {
    group(context: SignedIn.self).add(middleware: BufferedBodyMiddleware(limitBytes: bytesMax))
  }
}
