import AsyncHTTPClient
import Clients
import Foundation
import NIOCore
import NIOFoundationCompat
import Web
import Wire

/// Apple's token endpoints ("Generate and validate tokens", "Revoke tokens").
struct AppleTokens: Sendable {
  let team: AppleTeam

  /// What an authorization code is worth.
  struct Granted: Decodable {
    let refresh_token: String
    let id_token: String
  }

  /// Works once for a code, within five minutes of its making.
  ///
  /// - Throws: ``AppleRefused``; a network error when Apple did not answer in time.
  func exchange(_ code: String, for app: String, at now: Date) async throws -> Granted {
    let answer = try await post(
      "/auth/token",
      [
        ("client_id", app), ("client_secret", try team.secret(for: app, at: now)), ("code", code),
        ("grant_type", "authorization_code"),
      ], timeout: .seconds(3))
    return try JSON.decode(Granted.self, from: answer)
  }

  /// Safe to repeat.
  ///
  /// - Throws: ``AppleRefused``; a network error when Apple did not answer in time.
  func revoke(_ refreshToken: String, of app: String, at now: Date) async throws {
    _ = try await post(
      "/auth/revoke",
      [
        ("client_id", app), ("client_secret", try team.secret(for: app, at: now)), ("token", refreshToken),
        ("token_type_hint", "refresh_token"),
      ], timeout: .seconds(10))
  }

  private struct Refusal: Decodable {
    let error: String
  }

  private func post(_ path: String, _ form: [(String, String)], timeout: TimeAmount) async throws -> Data {
    var request = HTTPClientRequest(url: team.url + path)
    request.method = .POST
    request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
    request.body = .bytes(ByteBuffer(string: Form.encoded(form)))
    let response = try await Outbound.http.execute(request, timeout: timeout)
    let body = Data(buffer: try await response.body.collect(upTo: 64 * 1024))
    let status = Int(response.status.code)
    // `try?`: whatever stands before Apple may answer in its own words.
    guard (200..<300).contains(status) else {
      throw AppleRefused(status: status, (try? JSON.decode(Refusal.self, from: body))?.error)
    }
    return body
  }
}

/// Apple has answered, and not as we hoped (RFC 6749 §5.2).
struct AppleRefused: Error, CustomStringConvertible {
  private let status: Int
  private let code: String?

  init(status: Int, _ code: String?) {
    self.status = status
    // It goes to the log: a code and nothing else.
    self.code = code.flatMap { $0.utf8.count <= 40 && $0.allSatisfy { $0.isLetter || $0 == "_" } ? $0 : nil }
  }

  /// The code or token is good for nothing, and never will be.
  var isFinal: Bool { status == 400 && code != nil && !isOurConfiguration }

  /// Team, key or bundle id are not as Apple knows them.
  var isOurConfiguration: Bool { code == "invalid_client" || code == "unauthorized_client" }

  var description: String { "\(status) \(code ?? "without a code")" }
}
