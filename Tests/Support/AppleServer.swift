import Crypto
import Foundation
import Hummingbird
import ServiceLifecycle
import Synchronization
import Tokens
import Web

/// Apple's token endpoints on loopback: exchanges each code once, revokes, and believes nobody without the right secret.
package final class AppleServer: Sendable {
  package static let team = "TEAM123456"
  package static let keyID = "KEY1234567"

  package enum Mood: Sendable {
    case well, hanging
    case answering(Int, String)
  }

  package struct Call: Sendable {
    package let path: String
    package let form: [String: String]
    /// The client secret's claims, once its signature was found good.
    package let secret: Secret
  }

  package struct Secret: Decodable, Sendable {
    package let iss: String
    package let iat: Int
    package let exp: Int
    package let aud: String
    package let sub: String
  }

  private struct State {
    var mood = Mood.well
    var calls: [Call] = []
    var asked = 0
    var codes: [String: String] = [:]
    var issued = 0
  }

  private let key = P256.Signing.PrivateKey()
  private let state = Mutex(State())
  private let listening = Listening()
  private let address = Mutex("")

  package var url: String { address.withLock { $0 } }
  package var asked: Int { state.withLock { $0.asked } }
  package var mood: Mood {
    get { state.withLock { $0.mood } }
    set { state.withLock { $0.mood = newValue } }
  }

  package var settings: [String: String] {
    [
      "APPLE_BASE_URL": url, "APPLE_TEAM_ID": Self.team, "APPLE_KEY_ID": Self.keyID,
      "APPLE_PRIVATE_KEY": key.pemRepresentation,
    ]
  }

  /// What was asked there by somebody who proved to be the team.
  package func calls(to path: String) -> [Call] { state.withLock { $0.calls.filter { $0.path == path } } }

  /// From now on the code is good, once, for whom the identity token names.
  package func allow(_ code: String, for identityToken: String) { state.withLock { $0.codes[code] = identityToken } }

  private func answer(_ path: String, _ request: Request) async throws -> Response {
    let form = Self.fields(String(buffer: try await request.body.collect(upTo: 64 * 1024)))
    let mood = state.withLock { state in
      state.asked += 1
      return state.mood
    }
    switch mood {
    case .well: break
    // `try?`: the end of the test ends the wait.
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

  private static func fields(_ form: String) -> [String: String] {
    var fields: [String: String] = [:]
    for pair in form.split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
        $0.replacing("+", with: " ").removingPercentEncoding ?? ""
      }
      fields[parts[0]] = parts.count == 2 ? parts[1] : ""
    }
    return fields
  }

  fileprivate func server() -> some ApplicationProtocol {
    let router = Router()
    for path in ["/auth/token", "/auth/revoke"] {
      router.post(.init(path)) { [self] request, _ -> Response in try await answer(path, request) }
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

package func withAppleServer<T>(_ body: (AppleServer) async throws -> T) async throws -> T {
  let apple = AppleServer()
  return try await running([apple.server()]) {
    try await apple.ready()
    return try await body(apple)
  }
}
