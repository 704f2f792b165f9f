import CryptoExtras
import Foundation
import Hummingbird
import Synchronization
import Tokens
import Web

/// A fake of Apple's key server on loopback: publishes RSA keys and signs tokens with them.
package final class KeyServer: Sendable {
  private struct State {
    var keys: [(id: String, key: _RSA.Signing.PrivateKey)] = []
    var fetches = 0
    var isDown = false
  }

  private let state = Mutex(State())
  private let listening = ListeningPort()
  private let address = Mutex("")

  package var url: String { address.withLock { $0 } }
  package var fetches: Int { state.withLock { $0.fetches } }

  fileprivate init() throws { try rotate(to: "key-1") }

  /// Replaces all keys by a new one.
  package func rotate(to id: String) throws {
    let key = try RSAKeys.next()
    state.withLock { $0.keys = [(id, key)] }
  }

  package func setDown(_ isDown: Bool = true) { state.withLock { $0.isDown = isDown } }

  /// An identity token with Apple's claims; `nil` in `changes` removes a claim.
  package func identityToken(
    subject: String = "001234.alice", nonceHash: String? = nil, at now: Date,
    changing changes: [String: (any Sendable)?] = [:], head: [String: any Sendable] = [:]
  ) throws -> String {
    let seconds = Int(now.timeIntervalSince1970)
    var claims: [String: any Sendable] = [
      "iss": "https://appleid.apple.com", "aud": "com.example.kith", "sub": subject, "iat": seconds,
      "exp": seconds + 600, "email": "alice@privaterelay.appleid.com", "email_verified": "true",
      "is_private_email": true, "nonce_supported": true,
    ]
    if let nonceHash { claims["nonce"] = nonceHash }
    for (name, value) in changes { claims[name] = value }
    return try sign(claims, head: head)
  }

  package func sign(_ claims: [String: any Sendable], head: [String: any Sendable] = [:]) throws -> String {
    let signer = state.withLock { $0.keys[0] }
    var header: [String: any Sendable] = ["alg": "RS256", "kid": signer.id]
    for (name, value) in head { header[name] = value }
    return try compactJWS(header, claims) { message in
      try signer.key.signature(for: message, padding: .insecurePKCS1v1_5).rawRepresentation
    }
  }

  private func published() throws -> Data? {
    let (keys, isDown) = state.withLock { state in
      state.fetches += 1
      return (state.keys, state.isDown)
    }
    guard !isDown else { return nil }
    return try JSONEncoder().encode(JWKS(keys: keys.map { try JWK($0.key.publicKey, id: $0.id) }))
  }

  fileprivate func server() -> some ApplicationProtocol {
    let router = Router()
    router.get("/auth/keys") { [self] _, _ -> Response in
      guard let body = try published() else { return Response(status: .serviceUnavailable) }
      return Response(status: .ok, body: .init(byteBuffer: .init(data: body)))
    }
    return loopbackServer(router, listening)
  }

  fileprivate func ready() async throws {
    let port = try await listening.number
    address.withLock { $0 = "http://127.0.0.1:\(port)/auth/keys" }
  }
}

package func withKeyServer<T>(_ body: (KeyServer) async throws -> T) async throws -> T {
  let keys = try KeyServer()
  return try await running([keys.server()]) {
    try await keys.ready()
    return try await body(keys)
  }
}
