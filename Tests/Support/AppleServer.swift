import Crypto
import Foundation
import Hummingbird
import ServiceLifecycle
import Synchronization
import Tokens
import Web

/// A fake of Apple's token endpoints on loopback: exchanges each code once, revokes tokens, and verifies the client
/// secret.
package final class AppleServer: Sendable {
  package static let team = "TEAM123456"
  package static let keyID = "KEY1234567"

  /// How it responds.
  package enum Behavior: Sendable {
    case normal, hanging
    case answering(Int, String)
  }

  /// A call with a valid client secret.
  package struct Call: Sendable {
    package let path: String
    package let form: [String: String]
    /// The verified claims of the client secret.
    package let secret: Secret
  }

  /// The claims of a client secret.
  package struct Secret: Decodable, Sendable {
    package let iss: String
    package let iat: Int
    package let exp: Int
    package let aud: String
    package let sub: String
  }

  private struct State {
    var behavior = Behavior.normal
    var calls: [Call] = []
    var requestCount = 0
    var codes: [String: String] = [:]
    var issued = 0
  }

  private let key = P256.Signing.PrivateKey()
  private let state = Mutex(State())
  private let listening = ListeningPort()
  private let address = Mutex("")

  package var url: String { address.withLock { $0 } }
  package var requestCount: Int { state.withLock { $0.requestCount } }
  package var behavior: Behavior {
    get { state.withLock { $0.behavior } }
    set { state.withLock { $0.behavior = newValue } }
  }

  package var settings: [String: String] {
    [
      "APPLE_BASE_URL": url, "APPLE_TEAM_ID": Self.team, "APPLE_KEY_ID": Self.keyID,
      "APPLE_PRIVATE_KEY": key.pemRepresentation,
    ]
  }

  /// The calls to a path with a valid client secret.
  package func calls(to path: String) -> [Call] { state.withLock { $0.calls.filter { $0.path == path } } }

  /// Makes an authorization code valid for one exchange, for the user of the identity token.
  package func allow(_ code: String, for identityToken: String) { state.withLock { $0.codes[code] = identityToken } }

  private func answer(_ path: String, _ request: Request) async throws -> Response {
    let form = formFields(String(buffer: try await request.body.collect(upTo: 64 * 1024)))
    let behavior = state.withLock { state in
      state.requestCount += 1
      return state.behavior
    }
    switch behavior {
    case .normal: break
    // `try?`: the sleep is cancelled when the test ends.
    case .hanging: await cancelWhenGracefulShutdown { try? await Task.sleep(for: .seconds(600)) }
    case .answering(let status, let body):
      return Response(status: .init(code: status), body: .init(byteBuffer: .init(string: body)))
    }
    guard request.headers[.contentType] == "application/x-www-form-urlencoded",
      let token = try? SignedToken(form["client_secret"] ?? ""), token.keyID == Self.keyID,
      let secret = try? token.claims(Secret.self, signedBy: .es256(key.publicKey)), secret.sub == form["client_id"]
    else { return Self.refusal("invalid_client") }
    return state.withLock { state in
      state.calls.append(Call(path: path, form: form, secret: secret))
      guard path == "/auth/token" else { return Response(status: .ok) }
      guard let identity = state.codes.removeValue(forKey: form["code"] ?? "") else {
        return Self.refusal("invalid_grant")
      }
      state.issued += 1
      let body = """
        {"access_token":"a","token_type":"Bearer","expires_in":3600,"refresh_token":"refresh+token/\(state.issued)",
        "id_token":"\(identity)"}
        """
      return Response(status: .ok, body: .init(byteBuffer: .init(string: body)))
    }
  }

  private static func refusal(_ code: String) -> Response {
    Response(status: .badRequest, body: .init(byteBuffer: .init(string: #"{"error":"\#(code)"}"#)))
  }

  fileprivate func server() -> some ApplicationProtocol {
    let router = Router()
    for path in ["/auth/token", "/auth/revoke"] {
      router.post(.init(path)) { [self] request, _ -> Response in try await answer(path, request) }
    }
    return loopbackServer(router, listening)
  }

  fileprivate func ready() async throws {
    let port = try await listening.number
    address.withLock { $0 = "http://127.0.0.1:\(port)" }
  }
}

package func withAppleServer<T>(_ body: (AppleServer) async throws -> T) async throws -> T {
  let apple = AppleServer()
  return try await running([apple.server()]) {
    try await apple.ready()
    return try await body(apple)
  }
}
