import Hummingbird
import Wire

/// Refuses everyone but the holder of `ADMIN_API_KEY`; with an empty one, everyone.
///
/// - Throws: 403, without having looked at the body.
package func requireAdmin(_ request: Request, _ adminKey: String) throws(Failure) {
  guard !adminKey.isEmpty, let presented = request.headers[.adminKey], ServiceKeys.same(presented, adminKey) else {
    throw Failure(.forbidden, "wrong_admin_key", "A valid X-Admin-Key is needed.")
  }
}

extension Settings {
  /// `ADMIN_API_KEY`; empty when it is not set, which switches the admin's routes off.
  package func adminKey() throws -> String {
    guard let key = nonempty("ADMIN_API_KEY") else { return "" }
    try requireStrength(of: key, in: "ADMIN_API_KEY")
    return key
  }
}
