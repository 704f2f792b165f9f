import Foundation
import Web
import Wire

/// An address to which the end of a generation is posted.
struct CallbackURL: Sendable, Hashable {
  let text: String
  let host: String
  /// Whether it may be on this network, and without TLS.
  let isAllowedHost: Bool
}

/// Which callback addresses are accepted, by `CALLBACK_SECRET` and `CALLBACK_ALLOWED_HOSTS`.
struct CallbackRules: Sendable {
  /// The key of the signatures; nil where callbacks are not configured.
  let key: Data?
  private let allowedHosts: Set<String>
  private static let bytesMax = 2048

  /// - Throws: ``StartFailure`` for a secret that is not in the form of Standard Webhooks, and for allowed hosts in
  ///   production.
  init(_ settings: Settings) throws {
    key = try settings.nonempty("CALLBACK_SECRET").map { secret in
      guard secret.hasPrefix("whsec_"), let key = Data(base64Encoded: String(secret.dropFirst("whsec_".count))),
        (24...64).contains(key.count)
      else { throw StartFailure("CALLBACK_SECRET must be whsec_ and 24 to 64 bytes in base64") }
      return key
    }
    allowedHosts = Set(settings.list("CALLBACK_ALLOWED_HOSTS").map { $0.lowercased() })
    guard try allowedHosts.isEmpty || settings.stage() != .production else {
      throw StartFailure("CALLBACK_ALLOWED_HOSTS is for development: in production callbacks go to public addresses")
    }
  }

  /// - Throws: a validation failure that names `callback_url`.
  func url(_ text: String) throws(Failure) -> CallbackURL {
    func invalid(_ message: String) -> Failure { .invalid(.init("callback_url", message)) }
    guard key != nil else { throw invalid("is not possible here: CALLBACK_SECRET is not set") }
    guard text.utf8.count <= Self.bytesMax, let url = URLComponents(string: text), let host = url.host, !host.isEmpty,
      url.user == nil, url.password == nil, url.fragment == nil, url.percentEncodedHost?.contains("%") == false,
      Self.isPlain(host), URL(string: text)?.host == host
    else { throw invalid("must be an https URL") }
    let isAllowed = allowedHosts.contains("\(host):\(url.port ?? (url.scheme == "http" ? 80 : 443))".lowercased())
    guard url.scheme == "https" || url.scheme == "http" && isAllowed else { throw invalid("must be an https URL") }
    if !isAllowed, let address = IPAddress(host), !address.isPublic { throw invalid("must be a public address") }
    return CallbackURL(text: text, host: host, isAllowedHost: isAllowed)
  }

  /// Whether everybody reads the same host: the connection must go to the address that was checked for this name, so it
  /// is written without percent-encoding and in ASCII.
  private static func isPlain(_ host: String) -> Bool {
    host.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: ":"): true
      case UInt8(ascii: "["), UInt8(ascii: "]"): true
      default: false
      }
    }
  }
}
