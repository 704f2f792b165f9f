import Foundation

/// A JSON Web Signature in compact serialization (RFC 7515 §7.1), parsed strictly and not verified yet.
package struct SignedToken: Sendable {
  package let keyID: String
  package let algorithm: String
  private let message: [UInt8]
  private let signature: [UInt8]
  private let payload: [UInt8]

  package static let bytesMax = 4096

  private struct Head: Codable {
    let alg: String
    let kid: String
    let typ: String?
    let crit: [String]?
    let b64: Bool?
    let zip: String?
  }

  /// - Throws: ``TokenRejected/malformed`` for anything that is not canonical: size, base64url, header members that
  ///   change what is signed (`crit`, `b64`, `zip`), a `typ` that is not one of `types`, no `kid`.
  package init(_ text: String, types: Set<String> = ["JWT"]) throws(TokenRejected) {
    let bytes = Array(text.utf8)
    guard bytes.count <= Self.bytesMax else { throw .malformed }
    let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, let head = Base64URL.decode(parts[0]), let payload = Base64URL.decode(parts[1]),
      let signature = Base64URL.decode(parts[2]), !signature.isEmpty
    else { throw .malformed }
    // `try?`: a header that cannot be decoded throws `.malformed`.
    guard let head = try? JSONDecoder().decode(Head.self, from: Data(head)), head.crit == nil, head.b64 == nil,
      head.zip == nil, head.typ.map(types.contains) ?? true
    else { throw .malformed }
    self.keyID = head.kid
    self.algorithm = head.alg
    self.message = Array(bytes[..<(parts[0].count + 1 + parts[1].count)])
    self.signature = signature
    self.payload = payload
  }

  /// The `iss` claim, unverified.
  package var claimedIssuer: String? {
    struct Claim: Decodable { let iss: String? }
    // `try?`: claims that cannot be decoded have no issuer.
    return (try? JSONDecoder().decode(Claim.self, from: Data(payload)))?.iss
  }

  /// The claims, after verifying that `key` signed them.
  ///
  /// - Throws: ``TokenRejected``; the algorithm must be the key's, whatever the header says.
  package func claims<Claims: Decodable>(_ type: Claims.Type, signedBy key: VerifyingKey) throws(TokenRejected)
    -> Claims
  {
    guard algorithm == key.algorithm else { throw .algorithm }
    guard key.isValid(signature, for: message) else { throw .signature }
    // `try?`: claims that are missing or of another type throw `.claims`.
    guard let claims = try? JSONDecoder().decode(Claims.self, from: Data(payload)) else { throw .claims }
    return claims
  }

  package static func sign(_ claims: some Encodable, with key: SigningKey) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let head = Data(#"{"alg":"\#(key.algorithm)","kid":"\#(key.id)","typ":"JWT"}"#.utf8)
    let message = "\(Base64URL.encode(head)).\(Base64URL.encode(try encoder.encode(claims)))"
    return "\(message).\(Base64URL.encode(try key.sign(Data(message.utf8))))"
  }
}

/// Why a token is not valid. Clients get only a 401.
package enum TokenRejected: Error, Hashable, Sendable {
  case malformed, unknownKey, algorithm, signature, claims, expired, notYetValid, ended, issuer, audience, nonce
}
