import Foundation
import Tokens

/// A JWS in compact serialization (RFC 7515 §7.1) with any header and claims, also invalid ones.
///
/// - Parameter sign: the signature of the signing input.
func compactJWS(
  _ header: [String: any Sendable], _ claims: [String: any Sendable], sign: (Data) throws -> Data
) throws -> String {
  let parts = try [header, claims].map { part in
    Base64URL.encode(try JSONSerialization.data(withJSONObject: part, options: .sortedKeys))
  }
  let message = parts.joined(separator: ".")
  return "\(message).\(Base64URL.encode(try sign(Data(message.utf8))))"
}
