import NIOHTTP1
import Web

/// Every route that the outside can reach. What is not here is a 404; `/internal` never is.
package let publicRoutes: [Route] = [
  // auth
  .init(.POST, "/api/v1/auth/apple", to: .auth),
  .init(.POST, "/api/v1/auth/dev/token", to: .auth),
  .init(.POST, "/api/v1/auth/refresh", to: .auth),
  .init(.POST, "/api/v1/auth/logout", to: .auth),
  .init(.GET, "/api/v1/auth/me", to: .auth, bearer: .required),
  .init(.DELETE, "/api/v1/auth/account", to: .auth, bearer: .required),
  .init(.POST, "/api/v1/users/resolve", to: .auth, bearer: .service),
  .init(.GET, "/.well-known/jwks.json", to: .auth),

  // credits
  .init(.GET, "/api/v1/credits/balance", to: .credits, bearer: .required),
  .init(.GET, "/api/v1/credits/history", to: .credits, bearer: .required),
  .init(.GET, "/api/v1/credits/costs", to: .credits),
  .init(.POST, "/api/v1/credits/admin/grant", to: .credits),
]

/// One line of the table.
package struct Route: Sendable {
  let method: HTTPMethod
  /// With `{name}` for a segment that may be anything.
  let path: String
  let service: ServiceName
  let bearer: Bearer
  let bodyBytesMax: Int
  /// How long the service may take until its answer begins.
  let answerSeconds: Int64

  package enum Bearer: Sendable {
    /// A bearer is not looked at.
    case none
    /// A bearer must be good if there is one.
    case optional
    case required
    /// Only for outside systems that present a service key.
    case service
  }

  package init(
    _ method: HTTPMethod, _ path: String, to service: ServiceName, bearer: Bearer = .none,
    bodyBytesMax: Int = 64 * 1024, answerSeconds: Int64 = 10
  ) {
    self.method = method
    self.path = path
    self.service = service
    self.bearer = bearer
    self.bodyBytesMax = bodyBytesMax
    self.answerSeconds = answerSeconds
  }
}
