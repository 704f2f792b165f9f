import Crypto
import CryptoExtras
import Foundation
import Hummingbird
import Synchronization
import Tokens
import Web

/// An OpenID Connect issuer on loopback: its discovery document, its keys, and tokens signed with them.
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
  private let listening = Listening()
  private let address = Mutex("")

  /// What stands in `iss`.
  package var name: String { address.withLock { $0 } }
  package var keysURL: String { name + "/keys" }
  package var keyFetches: Int { state.withLock { $0.keyFetches } }
  package var discoveries: Int { state.withLock { $0.discoveries } }

  fileprivate init() throws { try rotate(to: "key-1") }

  /// From now on signs with a new key; the old ones are withdrawn.
  package func rotate(to id: String, isRSA: Bool = true) throws {
    let secret: Secret =
      isRSA ? .rsa(try _RSA.Signing.PrivateKey(keySize: .bits2048)) : .p256(P256.Signing.PrivateKey())
    state.withLock { $0.keys = [(id, secret)] }
  }

  package func goDown(_ isDown: Bool = true) { state.withLock { $0.isDown = isDown } }

  /// Lies in the discovery document from now on.
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
    let parts = try [header, claims].map { part in
      Base64URL.encode(try JSONSerialization.data(withJSONObject: part, options: .sortedKeys))
    }
    let message = Data(parts.joined(separator: ".").utf8)
    let signature =
      switch signer.secret {
      case .rsa(let key): try key.signature(for: message, padding: .insecurePKCS1v1_5).rawRepresentation
      case .p256(let key): try key.signature(for: message).rawRepresentation
      }
    return "\(parts.joined(separator: ".")).\(Base64URL.encode(signature))"
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
    return Application(
      router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
      onServerRunning: { [listening] channel in listening.opened(on: channel.localAddress?.port ?? 0) },
      logger: quiet)
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
