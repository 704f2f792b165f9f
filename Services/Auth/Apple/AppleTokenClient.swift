import AsyncHTTPClient
import Clients
import Foundation
import NIOCore
import NIOFoundationCompat
import Web
import Wire

/// Apple's token endpoints ("Generate and validate tokens", "Revoke tokens").
struct AppleTokenClient: Sendable {
  let team: AppleTeam

  /// The response to an authorization code.
  struct TokenResponse: Decodable {
    let refresh_token: String
    let id_token: String
  }

  /// A code can be exchanged once, within five minutes of its issue.
  ///
  /// - Throws: ``AppleTokenError``; a network error when Apple did not answer in time.
  func exchange(_ code: String, for app: String, at now: Date) async throws -> TokenResponse {
    let body = try await post(
      "/auth/token",
      [
        ("client_id", app), ("client_secret", try team.clientSecret(for: app, at: now)), ("code", code),
        ("grant_type", "authorization_code"),
      ], timeout: .seconds(3))
    return try JSON.decode(TokenResponse.self, from: body)
  }

  /// Safe to repeat.
  ///
  /// - Throws: ``AppleTokenError``; a network error when Apple did not answer in time.
  func revoke(_ refreshToken: String, of app: String, at now: Date) async throws {
    _ = try await post(
      "/auth/revoke",
      [
        ("client_id", app), ("client_secret", try team.clientSecret(for: app, at: now)), ("token", refreshToken),
        ("token_type_hint", "refresh_token"),
      ], timeout: .seconds(10))
  }

  private struct ErrorBody: Decodable {
    let error: String
  }

  private func post(_ path: String, _ form: [(String, String)], timeout: TimeAmount) async throws -> Data {
    var request = HTTPClientRequest(url: team.url + path)
    request.method = .POST
    request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
    request.body = .bytes(ByteBuffer(string: URLEncodedForm.encode(form)))
    let response = try await OutboundHTTP.client.execute(request, timeout: timeout)
    let body = Data(buffer: try await response.body.collect(upTo: 64 * 1024))
    let status = Int(response.status.code)
    // `try?`: a proxy in front of Apple may answer in another format.
    guard (200..<300).contains(status) else {
      throw AppleTokenError(status: status, (try? JSON.decode(ErrorBody.self, from: body))?.error)
    }
    return body
  }
}

/// An error response of Apple's token endpoints (RFC 6749 §5.2).
struct AppleTokenError: Error, CustomStringConvertible {
  private let status: Int
  private let code: String?

  init(status: Int, _ code: String?) {
    self.status = status
    // The error is logged: only what looks like an error code is kept.
    self.code = code.flatMap { $0.utf8.count <= 40 && $0.allSatisfy { $0.isLetter || $0 == "_" } ? $0 : nil }
  }

  /// The code or token is invalid for good.
  var isPermanent: Bool { status == 400 && code != nil && !isConfigurationError }

  /// Apple does not accept the team, key or bundle id.
  var isConfigurationError: Bool { code == "invalid_client" || code == "unauthorized_client" }

  var description: String { "\(status) \(code ?? "without a code")" }
}
