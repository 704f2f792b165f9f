import Hummingbird
import Wire

/// Requires that the request has `ADMIN_API_KEY` in `X-Admin-Key`. An empty key refuses every request.
///
/// - Throws: 403, without reading the body.
package func requireAdmin(_ request: Request, _ adminKey: String) throws(Failure) {
  guard !adminKey.isEmpty, let presented = request.headers[.adminKey], ServiceKeys.areEqual(presented, adminKey) else {
    throw Failure(.forbidden, "wrong_admin_key", "A valid X-Admin-Key is needed.")
  }
}

extension Settings {
  /// `ADMIN_API_KEY`; empty when it is not set, which disables the admin routes.
  package func adminKey() throws -> String {
    guard let key = nonempty("ADMIN_API_KEY") else { return "" }
    try requireStrength(of: key, in: "ADMIN_API_KEY")
    return key
  }
}
