import Foundation
import Support

/// An app that identifies users by number, as strict as its own decoder: a missing member that is not optional here
/// fails the whole response.
actor NumberedApp {
  struct User: Decodable, Sendable, Equatable {
    let id: Int
    let email: String
    let role: String
    let name: String?
    let timezone: String?
    let has_password: Bool?
  }

  struct SignedIn: Decodable, Sendable {
    let user: User
    let token: String
    let refresh_token: String?
  }

  struct Profile: Decodable, Sendable {
    let user: User
  }

  struct SessionLost: Error {}

  private let gateway: Browser
  private let now: @Sendable () -> Date
  private var session: SignedIn?
  /// All refresh tokens that it has presented.
  private(set) var presented: [String] = []

  init(_ gateway: Browser, now: @escaping @Sendable () -> Date) {
    self.gateway = gateway
    self.now = now
  }

  var user: User? { session?.user }

  /// Signs in or up by any endpoint that opens a session.
  @discardableResult
  func open(_ path: String, _ body: [String: any Sendable]) async throws -> User {
    let reply = try await gateway.post(path, body)
    session = try JSONDecoder().decode(SignedIn.self, from: reply.body)
    return try unwrapped().user
  }

  /// Fetches the profile. Refreshes once: before the call when the token has expired, or after a 401.
  func profile() async throws -> User {
    if try isExpired(unwrapped().token) { try await refresh() }
    var reply = try await get()
    if reply.status == 401 {
      try await refresh()
      reply = try await get()
    }
    return try JSONDecoder().decode(Profile.self, from: reply.body).user
  }

  /// Replaces the token pair only when the response can be decoded; otherwise the used token stays.
  func refresh() async throws {
    guard let token = try unwrapped().refresh_token else { throw SessionLost() }
    presented.append(token)
    let reply = try await gateway.post("/api/v1/auth/refresh", ["refresh_token": token])
    guard reply.status == 200 else { throw SessionLost() }
    session = try JSONDecoder().decode(SignedIn.self, from: reply.body)
  }

  func delete(_ body: [String: any Sendable]) async throws -> Browser.Reply {
    try await gateway.bearing(unwrapped().token).send(.DELETE, "/api/v1/users/profile", json: body)
  }

  private func get() async throws -> Browser.Reply {
    try await gateway.bearing(unwrapped().token).get("/api/v1/users/profile")
  }

  private func unwrapped() throws -> SignedIn {
    guard let session else { throw SessionLost() }
    return session
  }

  private func isExpired(_ token: String) throws -> Bool {
    struct Claims: Decodable { let exp: Double }
    return try token.claims(as: Claims.self).exp <= now().timeIntervalSince1970
  }
}

extension String {
  /// The claims of an access token, unverified, as apps read them.
  func claims<Claims: Decodable>(as type: Claims.Type) throws -> Claims {
    var text = split(separator: ".").dropFirst().first.map(String.init) ?? ""
    text = text.replacing("-", with: "+").replacing("_", with: "/")
    text += String(repeating: "=", count: (4 - text.count % 4) % 4)
    return try JSONDecoder().decode(type, from: Data(base64Encoded: text) ?? Data())
  }
}
