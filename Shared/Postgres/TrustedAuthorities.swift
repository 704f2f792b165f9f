import CPostgres
import Foundation

/// The authorities whose certificates a connection accepts when its URL asks for `sslmode=verify-full` and names none.
///
/// Without `sslrootcert`, libpq trusts those in `~/.postgresql/root.crt` only; `sslrootcert=system` is known from
/// version 16 on. Not for `verify-ca`: it accepts any name, so with the system's authorities anybody's certificate.
struct TrustedAuthorities {
  var environment = ProcessInfo.processInfo.environment
  /// The bundles of Debian and Alpine, of Red Hat, and of macOS.
  var bundles = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"]

  /// The value of `sslrootcert` for a URL; nil where libpq decides.
  func file(for url: String) -> String? {
    let options = Self.options(in: url)
    guard (options["sslmode"] ?? environment["PGSSLMODE"]) == "verify-full",
      (options["sslrootcert"] ?? environment["PGSSLROOTCERT"] ?? "").isEmpty,
      !exists("\(environment["HOME"] ?? NSHomeDirectory())/.postgresql/root.crt")
    else { return nil }
    return bundles.first(where: exists)
  }

  private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  /// What the URL sets; nothing for one that libpq cannot parse, which it will say itself.
  private static func options(in url: String) -> [String: String] {
    guard let first = PQconninfoParse(url, nil) else { return [:] }
    defer { PQconninfoFree(first) }
    var options: [String: String] = [:]
    var option = first
    while let keyword = option.pointee.keyword {
      if let value = option.pointee.val { options[String(cString: keyword)] = String(cString: value) }
      option += 1
    }
    return options
  }
}
