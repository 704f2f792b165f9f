import Crypto
import CryptoExtras
import Foundation
import Hummingbird
import Synchronization
import Tokens
import Web

/// A fake OpenID Connect issuer on loopback: discovery document, key set, and tokens signed with those keys.
package final class IssuerServer: Sendable {
  private enum Secret: Sendable {
    case rsa(_RSA.Signing.PrivateKey)
    case p256(P256.Signing.PrivateKey)
  }

  private struct State {
    var keys: [(id: String, secret: Secret)] = []
    var keyFetches = 0
    var discoveries = 0
    var isDown = false
    var discovered: [String: String] = [:]
  }

  private let state = Mutex(State())
  private let listening = ListeningPort()
  private let address = Mutex("")

  /// The `iss` of its tokens.
  package var name: String { address.withLock { $0 } }
  package var keysURL: String { name + "/keys" }
  package var keyFetches: Int { state.withLock { $0.keyFetches } }
  package var discoveries: Int { state.withLock { $0.discoveries } }

  fileprivate init() throws { try rotate(to: "key-1") }

  /// Replaces all keys by a new one.
  package func rotate(to id: String, isRSA: Bool = true) throws {
    let secret: Secret =
      isRSA ? .rsa(try RSAKeys.next()) : .p256(P256.Signing.PrivateKey())
    state.withLock { $0.keys = [(id, secret)] }
  }

  package func setDown(_ isDown: Bool = true) { state.withLock { $0.isDown = isDown } }

  /// Replaces a member of the discovery document.
  package func discover(_ member: String, as value: String) { state.withLock { $0.discovered[member] = value } }

  /// A token of ten minutes; `nil` in `changes` removes a claim.
  package func token(
    _ subject: String = "user_alice", audience: String? = "kith", at now: Date,
    changing changes: [String: (any Sendable)?] = [:], head: [String: (any Sendable)?] = [:]
  ) throws -> String {
    let seconds = Int(now.timeIntervalSince1970)
    var claims: [String: any Sendable] = ["iss": name, "sub": subject, "iat": seconds, "exp": seconds + 600]
    if let audience { claims["aud"] = audience }
    for (member, value) in changes { claims[member] = value }
    let signer = state.withLock { $0.keys[0] }
    var header: [String: any Sendable] = ["typ": "JWT", "kid": signer.id]
    switch signer.secret {
    case .rsa: header["alg"] = "RS256"
    case .p256: header["alg"] = "ES256"
    }
    for (member, value) in head { header[member] = value }
    return try compactJWS(header, claims) { message in
      switch signer.secret {
      case .rsa(let key): try key.signature(for: message, padding: .insecurePKCS1v1_5).rawRepresentation
      case .p256(let key): try key.signature(for: message).rawRepresentation
      }
    }
  }

  private func published() throws -> JWKS {
    JWKS(
      keys: try state.withLock { $0.keys }.map { id, secret in
        switch secret {
        case .rsa(let key): return try JWK(key.publicKey, id: id)
        case .p256(let key):
          var jwk = JWK(key.publicKey)
          jwk.kid = id
          return jwk
        }
      })
  }

  private func answer(_ count: (inout State) -> Void, _ body: () throws -> Data) throws -> Response {
    let isDown = state.withLock { state in
      count(&state)
      return state.isDown
    }
    guard !isDown else { return Response(status: .serviceUnavailable) }
    return Response(status: .ok, body: .init(byteBuffer: .init(data: try body())))
  }

  fileprivate func server() -> some ApplicationProtocol {
    let router = Router()
    router.get("/keys") { [self] _, _ -> Response in
      try answer({ $0.keyFetches += 1 }) { try JSONEncoder().encode(try published()) }
    }
    router.get("/.well-known/openid-configuration") { [self] _, _ -> Response in
      try answer({ $0.discoveries += 1 }) {
        let document = ["issuer": name, "jwks_uri": keysURL].merging(state.withLock { $0.discovered }) { $1 }
        return try JSONEncoder().encode(document)
      }
    }
    return loopbackServer(router, listening)
  }

  fileprivate func ready() async throws {
    let port = try await listening.number
    address.withLock { $0 = "http://127.0.0.1:\(port)" }
  }
}

package func withIssuer<T>(_ body: (IssuerServer) async throws -> T) async throws -> T {
  let issuer = try IssuerServer()
  return try await running([issuer.server()]) {
    try await issuer.ready()
    return try await body(issuer)
  }
}
