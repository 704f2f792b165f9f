import Foundation
import Hummingbird
import Tokens
import Wire

/// Authenticates the caller of a request: by service key, by the user that a trusted service names, or by bearer token.
package struct CallerAuthenticator: Sendable {
  private let keys: ServiceKeys
  private let verifier: AccessTokenVerifier
  private let ended: EndedSessionList
  private let now: @Sendable () -> Date
  private let externalUser: @Sendable (String, Date) async throws -> UserID?
  private let findUser: @Sendable (String) async throws -> UserID?
  private let usersByName: UserCache<String>

  /// - Parameters:
  ///   - externalUser: the user of a bearer token that an external issuer signed; nil for any other token.
  ///   - findUser: the user with a local id or with an external system's id; nil when there is none.
  package init(
    keys: ServiceKeys, verifier: AccessTokenVerifier, ended: EndedSessionList, now: @escaping @Sendable () -> Date,
    externalUser: @escaping @Sendable (String, Date) async throws -> UserID? = { _, _ in nil },
    findUser: @escaping @Sendable (String) async throws -> UserID?
  ) {
    self.keys = keys
    self.verifier = verifier
    self.ended = ended
    self.now = now
    self.externalUser = externalUser
    self.findUser = findUser
    usersByName = UserCache(ended: ended, now: now)
  }

  /// `context` with its caller and calling service. A bearer token takes precedence over a user that a service names.
  ///
  /// - Parameter service: the service whose key the request carries.
  /// - Throws: 503 when the keys of a token are unavailable; failures of looking up the user.
  func authenticated(
    _ request: Request, _ context: Context, keyOf service: CallingService?
  ) async throws -> Context {
    var context = context
    context.hasServiceKeys = !keys.isEmpty
    context.service = originatingService(service, named: request.header(.serviceName))
    if let bearer = request.bearer {
      context.caller = try await caller(bearing: bearer)
    } else if let service, service.mayAssertUsers, let name = request.header(.userID) {
      let session = request.header(.sessionID).flatMap { SessionID($0) }
      let user = try await user(named: name, in: session, by: service)
      context.caller = user.map { .user($0, session: session) } ?? .rejected(.userNotFound)
    }
    return context
  }

  /// The service whose key the request carries in `X-Service-Key`, if any.
  func service(of request: Request) -> CallingService? {
    request.header(.serviceKey).flatMap { keys.service(presenting: $0) }
  }

  /// Whether the request carries a service key as its bearer token, which is how Prometheus can send one.
  func hasServiceKeyAsBearer(_ request: Request) -> Bool {
    request.bearer.flatMap { keys.service(presenting: $0) } != nil
  }

  /// The gateway forwards `X-Service-Name` for an external system whose key it has verified; every other service calls
  /// for itself.
  private func originatingService(_ service: CallingService?, named name: String?) -> CallingService? {
    guard let service, service.isGateway, let name else { return service }
    return CallingService(named: name)
  }

  /// The gateway has verified the user already, so its id is used as it is; a name from any other service is looked up.
  /// Where all services share one key, the session id distinguishes the gateway, as external systems send none.
  private func user(
    named name: String, in session: SessionID?, by service: CallingService
  ) async throws -> UserID? {
    if service.hasVerified(session), let id = UserID(name) { return id }
    return try await usersByName.user(name) { try await findUser(name) }
  }

  /// The user whom the gateway names, without a look-up; nil for the callers of all other requests.
  func user(assertedIn request: LoopRequest) -> UserID? {
    guard !request.head.fields.contains(.authorization), let user = request.field(.userID).flatMap({ UserID($0) }),
      let service = request.field(.serviceKey).flatMap({ keys.service(presenting: $0) })
    else { return nil }
    return service.hasVerified(request.session) ? user : nil
  }

  private func caller(bearing token: String) async throws -> Caller {
    do {
      let now = now()
      if let user = try await externalUser(token, now) { return .user(user, session: nil) }
      let token = try await verifier.verify(token, at: now)
      guard !ended.contains(token.session) else { return .rejected(.sessionEnded) }
      return .user(token.user, session: token.session)
    } catch TokenRejected.expired {
      return .rejected(.expiredToken)
    } catch is TokenRejected {
      return .rejected(.invalidToken)
    } catch let failure as Failure where failure.kind == .unauthorized {
      return .rejected(failure)
    } catch is KeysUnavailable {
      throw Failure.unavailable
    }
  }
}

extension CallingService {
  /// Whether it is the gateway, which has verified the user whom it names.
  fileprivate func hasVerified(_ session: @autoclosure () -> SessionID?) -> Bool {
    name == "gateway" || isGateway && session() != nil
  }
}

extension Request {
  /// The token of `Authorization: Bearer …` (RFC 6750 §2.1); the scheme is case-insensitive.
  package var bearer: String? {
    guard let header = self.header(.authorization)?.utf8, let space = header.firstIndex(of: UInt8(ascii: " ")),
      header[..<space].count == 6, String(header[..<space])?.lowercased() == "bearer"
    else { return nil }
    let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    let rest = header[space...].drop(while: isBlank)
    return rest.lastIndex { !isBlank($0) }.flatMap { String(rest[...$0]) }
  }
}

extension Failure {
  package static let userNotFound = Failure(.notFound, "user_not_found", "There is no such user.")
}
