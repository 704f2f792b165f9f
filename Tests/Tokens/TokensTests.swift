import Crypto
import CryptoExtras
import Foundation
import Testing
import Tokens
import Wire

@Suite struct TokensTests {
  private let now = Date(timeIntervalSince1970: 1_763_690_000)
  private let secret = SigningKey(secret: "a test secret that is long enough 0123456789")

  private func token(lifetime: Duration = .seconds(900), issued: Date? = nil) -> AccessToken {
    AccessToken(user: .new(at: now), session: .new(at: now), issuedAt: issued ?? now, lifetime: lifetime)
  }

  /// A key ring in which the first key signs and all verify.
  private func ring(_ keys: SigningKey...) -> KeyRing { KeyRing(.init(signing: keys.first, secrets: keys)) }

  /// A token with a valid signature, whatever its header.
  private func forged(
    head: [String: any Sendable], claims: [String: any Sendable] = [:], removing: String? = nil
  ) throws -> String {
    var all: [String: any Sendable] = [
      "sub": UserID.new(at: now).description, "sid": SessionID.new(at: now).description, "jti": "1",
      "iat": Int(now.timeIntervalSince1970), "exp": Int(now.timeIntervalSince1970) + 900, "type": "access",
      "iss": "kith",
    ]
    for (name, value) in claims { all[name] = value }
    if let removing { all[removing] = nil }
    let parts = try [head, all].map { Base64URL.encode(try JSONSerialization.data(withJSONObject: $0)) }
    let message = parts.joined(separator: ".")
    guard case .hs256(let key) = secret.secret else { return "" }
    return "\(message).\(Base64URL.encode(HMAC<SHA256>.authenticationCode(for: Data(message.utf8), using: key)))"
  }

  private var goodHead: [String: any Sendable] { ["alg": "HS256", "kid": secret.id, "typ": "JWT"] }

  @Test func whatWasSignedIsBelieved() throws {
    let sent = token()
    let text = try AccessTokenSigner(ring(secret)).sign(sent)
    #expect(try AccessTokenVerifier(ring(secret)).verifyLocally(text, at: now) == sent)
    let other = try AccessTokenVerifier(ring(secret)).verifyLocally(forged(head: goodHead), at: now)
    #expect(other?.issuedAtSeconds ?? 0 > 0)
  }

  @Test func es256WorksAsWellAndPublishesItsKey() throws {
    let key = try SigningKey(pem: P256.Signing.PrivateKey().pemRepresentation)
    let sent = token()
    let text = try AccessTokenSigner(ring(key)).sign(sent)
    #expect(try AccessTokenVerifier(ring(key, secret)).verifyLocally(text, at: now) == sent)
    guard case .es256(let published) = key.verifying else { return #expect(Bool(false)) }
    var jwk = JWK(published)
    jwk.kid = key.id
    #expect(jwk.thumbprint == key.id)
    let set = try JSONDecoder().decode(JWKS.self, from: JSONEncoder().encode(JWKS(keys: [jwk]))).byID
    #expect(try SignedToken(text).claims(AccessToken.self, signedBy: #require(set[key.id])) == sent)
  }

  @Test func headersThatChangeTheRulesAreRefused() throws {
    let heads: [([String: any Sendable], TokenRejected)] = [
      (["alg": "none", "kid": secret.id], .algorithm), (["alg": "RS256", "kid": secret.id], .algorithm),
      (["alg": "hs256", "kid": secret.id], .algorithm), (["kid": secret.id], .malformed),
      (["alg": "HS256"], .malformed), (["alg": "HS256", "kid": "other"], .unknownKey),
      (["alg": "HS256", "kid": secret.id, "crit": ["exp"]], .malformed),
      (["alg": "HS256", "kid": secret.id, "typ": "at+jwt"], .malformed),
      (["alg": "HS256", "kid": secret.id, "b64": false], .malformed),
      (["alg": "HS256", "kid": secret.id, "zip": "DEF"], .malformed),
    ]
    for (head, why) in heads {
      #expect(throws: why) { try AccessTokenVerifier(ring(secret)).verifyLocally(forged(head: head), at: now) }
    }
  }

  @Test func claimsMustAllBeThereAndInTheirTime() throws {
    let seconds = Int(now.timeIntervalSince1970)
    for missing in ["sub", "sid", "iat", "exp", "type", "jti", "iss"] {
      #expect(throws: TokenRejected.claims) {
        try AccessTokenVerifier(ring(secret)).verifyLocally(forged(head: goodHead, removing: missing), at: now)
      }
    }
    let wrong: [([String: any Sendable], TokenRejected)] = [
      (["exp": seconds], .expired), (["iat": seconds + 31], .notYetValid), (["exp": 1.5], .claims),
      (["exp": "tomorrow"], .claims), (["type": "refresh"], .claims), (["sub": "alice"], .claims),
      (["iss": "https://evil.example"], .issuer), (["iat": seconds + 10, "exp": seconds + 10], .notYetValid),
      (["nbf": seconds + 31], .notYetValid), (["nbf": Int.max], .notYetValid), (["nbf": "now"], .claims),
    ]
    for (claims, why) in wrong {
      #expect(throws: why) {
        try AccessTokenVerifier(ring(secret)).verifyLocally(forged(head: goodHead, claims: claims), at: now)
      }
    }
  }

  @Test func noTokenLivesLongerThanOneOfOursCould() throws {
    let seconds = Int(now.timeIntervalSince1970)
    let year = AccessToken.lifetimeSecondsMax
    let verifier = AccessTokenVerifier(ring(secret))
    for (issued, expires) in [(seconds, seconds + year), (seconds - year + 1, seconds + 1)] {
      let text = try forged(head: goodHead, claims: ["iat": issued, "exp": expires])
      #expect(try verifier.verifyLocally(text, at: now) != nil)
    }
    let endless = [
      (seconds, seconds + year + 1), (seconds - year, seconds + 1), (0, Int.max), (-1, Int.max), (Int.min, Int.max),
      (Int.min, seconds + 1),
    ]
    for (issued, expires) in endless {
      #expect(throws: TokenRejected.claims, "\(issued) to \(expires)") {
        try verifier.verifyLocally(forged(head: goodHead, claims: ["iat": issued, "exp": expires]), at: now)
      }
    }
    // Nor one without `iat`.
    #expect(throws: TokenRejected.claims) {
      try verifier.verifyLocally(
        forged(head: goodHead, claims: ["exp": seconds + 900], removing: "iat"), at: now)
    }
  }

  @Test func whatIsGoodSinceAMomentAgoIsGood() throws {
    let seconds = Int(now.timeIntervalSince1970)
    for nbf in [Int.min, seconds, seconds + 30] {
      let text = try forged(head: goodHead, claims: ["nbf": nbf])
      #expect(try AccessTokenVerifier(ring(secret)).verifyLocally(text, at: now) != nil)
    }
  }

  @Test func nothingButTheCanonicalTextIsAToken() throws {
    let text = try AccessTokenSigner(ring(secret)).sign(token())
    let parts = text.split(separator: ".")
    let verifier = AccessTokenVerifier(ring(secret))
    for wrong in [
      "", ".", "..", "a.b", text + ".", text + "=", " " + text, parts[0] + "." + parts[1] + ".",
      text + "\n", text.replacingOccurrences(of: ".", with: ".."), String(repeating: "a", count: 5000),
    ] as [String] {
      #expect(throws: TokenRejected.malformed) { try verifier.verifyLocally(String(wrong), at: now) }
    }
    // The last character of a signature has unused bits: another text for the same bytes is not canonical.
    let last = try #require(text.last)
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    let index = try #require(alphabet.firstIndex(of: last))
    let twin = String(text.dropLast()) + String(alphabet[index ^ 1])
    #expect(throws: TokenRejected.malformed) { try verifier.verifyLocally(twin, at: now) }
    for position in [10, 100, text.count - 10] {
      var changed = Array(text)
      changed[position] = changed[position] == "A" ? "B" : "A"
      #expect(throws: TokenRejected.self) { try verifier.verifyLocally(String(changed), at: now) }
    }
  }

  @Test func aFileOfKeysSignsWithItsFirstPrivateOneAndBelievesAll() throws {
    let (new, old, older) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
    let text = [new.pemRepresentation, old.publicKey.pemRepresentation, older.pemRepresentation].joined(separator: "\n")
    let keys = try PEMKeys("a comment\n" + text)
    #expect(keys.signing?.id == (try SigningKey(pem: new.pemRepresentation).id))
    let ring = KeyRing(.init(signing: keys.signing, publicKeys: keys.publicKeys))
    #expect(Set(ring.current.published.keys.map(\.kid)).count == 3)
    for key in [new, old, older] {
      let signed = try AccessTokenSigner(self.ring(SigningKey(pem: key.pemRepresentation))).sign(token())
      #expect(try AccessTokenVerifier(ring).verifyLocally(signed, at: now) != nil)
    }
    let unknown = try SigningKey(pem: P256.Signing.PrivateKey().pemRepresentation)
    let foreign = try AccessTokenSigner(self.ring(unknown)).sign(token())
    #expect(throws: TokenRejected.unknownKey) { try AccessTokenVerifier(ring).verifyLocally(foreign, at: now) }
    // Keys are removed at run time.
    let before = ring.version
    ring.replace(with: .init(signing: keys.signing, publicKeys: [new.publicKey]))
    #expect(ring.version != before)
    let removed = try AccessTokenSigner(self.ring(SigningKey(pem: old.pemRepresentation))).sign(token())
    #expect(throws: TokenRejected.unknownKey) { try AccessTokenVerifier(ring).verifyLocally(removed, at: now) }
    for wrong in ["", "nothing", new.publicKey.pemRepresentation] { #expect(try PEMKeys(wrong).signing == nil) }
    #expect(throws: (any Error).self) { try PEMKeys("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----") }
  }

  @Test func everyByteSurvivesBase64URL() {
    for count in 0..<70 {
      let bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max) }
      #expect(Base64URL.decode(Base64URL.encode(bytes).utf8) == bytes)
    }
    for wrong in ["A", "AB=", "A+BC", "A/BC", "AB==", "é", "AAAAB"] { #expect(Base64URL.decode(wrong.utf8) == nil) }
  }

  @Test func keysOfNoUseAreSkippedAndWeakOnesRefused() throws {
    let weak =
      #"{"kty":"RSA","kid":"weak","n":"\#(Base64URL.encode([UInt8](repeating: 0xC5, count: 128)))","e":"AQAB"}"#
    let good = try JWK(_RSA.Signing.PrivateKey(keySize: .bits2048).publicKey, id: "good")
    var encryption = good
    encryption.kid = "encryption"
    encryption.use = "enc"
    var other = good
    other.kid = "other"
    other.alg = "RS512"
    let encoder = JSONEncoder()
    let list = try [good, encryption, other].map { String(decoding: try encoder.encode($0), as: UTF8.self) }
    let text = #"{"keys":[\#(list.joined(separator: ",")),\#(weak),{"kty":"OKP","kid":"x"},7,null]}"#
    let set = try JSONDecoder().decode(JWKS.self, from: Data(text.utf8))
    #expect(Set(set.byID.keys) == ["good"])
  }

  @Test func onlyTheRightSecretAndPurposeOpenASeal() throws {
    let sealed = try SecretBox.seal(Data("pair".utf8), under: "token", purpose: "successor")
    #expect(try SecretBox.open(sealed, under: "token", purpose: "successor") == Data("pair".utf8))
    #expect(throws: (any Error).self) { try SecretBox.open(sealed, under: "other", purpose: "successor") }
    #expect(throws: (any Error).self) { try SecretBox.open(sealed, under: "token", purpose: "other") }
    #expect(try SecretBox.seal(Data("pair".utf8), under: "token", purpose: "successor") != sealed)
  }
}
