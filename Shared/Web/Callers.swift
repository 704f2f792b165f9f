import Foundation
import Hummingbird
import Tokens
import Wire

/// Finds out who is calling: by service key, by what a believed service says, or by bearer.
package struct Callers: Sendable {
  private let keys: ServiceKeys
  private let verifier: Verifier
  private let ended: EndedSessionList
  private let now: @Sendable () -> Date
  private let outsider: @Sendable (String, Date) async throws -> UserID?
  private let userKnownAs: @Sendable (String) async throws -> UserID?
  private let named: RememberedUsers<String>

  /// - Parameters:
  ///   - outsider: the user of an outside issuer's bearer; nil when the bearer is not of one.
  ///   - userKnownAs: the user of an id of ours or of an outside system's; nil when there is none.
  package init(
    keys: ServiceKeys, verifier: Verifier, ended: EndedSessionList, now: @escaping @Sendable () -> Date,
    outsider: @escaping @Sendable (String, Date) async throws -> UserID? = { _, _ in nil },
    userKnownAs: @escaping @Sendable (String) async throws -> UserID?
  ) {
    self.keys = keys
    self.verifier = verifier
    self.ended = ended
    self.now = now
    self.outsider = outsider
    self.userKnownAs = userKnownAs
    named = RememberedUsers(ended: ended, now: now)
  }

  /// `context` with its caller. A bearer beside a service key decides alone.
  ///
  /// - Parameter service: whose key the request shows.
  func identified(_ request: Request, _ context: Context, showingKeyOf service: CallingService?) async throws -> Context
  {
    var context = context
    if keys.isEmpty { context.withoutService = .serviceKeysUnset }
    context.service = onBehalf(service, of: request.headers[.serviceName])
    if let bearer = request.bearer {
      context.caller = try await caller(bearing: bearer)
    } else if let service, service.mayAssertUsers, let name = request.headers[.userID] {
      let session = request.headers[.sessionID].flatMap { SessionID($0) }
      let user = try await user(named: name, in: session, by: service)
      context.caller = user.map { .user($0, session: session) } ?? .rejected(.userNotFound)
    }
    return context
  }

  /// Whose service key the request shows, if anybody's.
  func service(shownBy request: Request) -> CallingService? {
    request.headers[.serviceKey].flatMap { keys.service(presenting: $0) }
  }

  /// Whether the request shows the key of a service as a bearer, as Prometheus can send it.
  func isBearingServiceKey(_ request: Request) -> Bool {
    request.bearer.flatMap { keys.service(presenting: $0) } != nil
  }

  /// The gateway calls for an outside system whose key it has checked; everyone else for themselves.
  private func onBehalf(_ service: CallingService?, of name: String?) -> CallingService? {
    guard let service, service.isGateway, let name else { return service }
    return CallingService(named: name)
  }

  /// The gateway has asked auth already; nobody else is taken at their word. Where everybody has one key, the session
  /// tells the gateway from outside systems, who know of none.
  private func user(
    named name: String, in session: SessionID?, by service: CallingService
  ) async throws -> UserID? {
    if let id = UserID(name), service.name == "gateway" || service.isGateway && session != nil { return id }
    return try await named.user(name) { try await userKnownAs(name) }
  }

  private func caller(bearing token: String) async throws -> Caller {
    do {
      let now = now()
      if let user = try await outsider(token, now) { return .user(user, session: nil) }
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

extension Request {
  /// The token of `Authorization: Bearer …` (RFC 6750 §2.1); the scheme in any case.
  package var bearer: String? {
    guard let header = headers[.authorization]?.utf8, let space = header.firstIndex(of: UInt8(ascii: " ")),
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
