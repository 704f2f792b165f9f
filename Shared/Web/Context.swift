import Foundation
import Hummingbird
import Wire

/// What is known of a request before any route has looked at it.
package struct Context: RequestContext {
  package var coreContext: CoreRequestContextStorage
  package var caller: Caller = .nobody
  package var service: CallingService?
  /// Why there is no `service`.
  var withoutService = Failure.wrongServiceKey
  package var trace = Trace(requestID: nil, traceparent: nil)
  /// The other end of the connection: whoever calls, or a proxy. nil when it has no address.
  let address: String?
  /// A proxy says that it speaks for somebody.
  var isForwarded = false

  package init(source: ApplicationRequestContextSource) {
    coreContext = .init(source: source)
    address = source.channel.remoteAddress?.ipAddress
  }

  var isFromThisMachine: Bool {
    guard let address, !isForwarded else { return false }
    return address == "::1" || address.hasPrefix("127.") || address.hasPrefix("::ffff:127.")
  }
}

/// For whom a request is made.
package enum Caller: Sendable, Hashable {
  case nobody
  case user(UserID, session: SessionID?)
  /// Somebody was named whom there is no reason to believe in.
  case rejected(Failure)
}

/// The context of routes for signed-in users. Its user is not optional: no handler can be reached without one.
package struct SignedIn: ChildRequestContext {
  package var coreContext: CoreRequestContextStorage
  package let user: UserID
  package let session: SessionID?

  /// - Throws: 401 without a believable bearer.
  package init(context: Context) throws {
    switch context.caller {
    case .user(let user, let session):
      self.user = user
      self.session = session
    case .rejected(let failure): throw failure
    case .nobody: throw Failure.unauthorized
    }
    coreContext = context.coreContext
  }
}

/// The context of routes for other processes and outside systems.
package struct ServiceCaller: ChildRequestContext {
  package var coreContext: CoreRequestContextStorage
  package let service: CallingService

  /// - Throws: 403 without a valid service key; 503 when this process has none configured.
  package init(context: Context) throws {
    guard let service = context.service else { throw context.withoutService }
    self.service = service
    coreContext = context.coreContext
  }
}

extension ServiceCaller {
  /// The user that the path names.
  ///
  /// - Throws: 404 for what is no UUID.
  package func user(_ parameter: String = "id") throws(Failure) -> UserID {
    guard let user = parameters.get(parameter).flatMap({ UserID($0) }) else { throw .userNotFound }
    return user
  }
}

/// Lets in the services that a route is for.
package struct Admits: MiddlewareProtocol {
  package typealias Input = Request
  package typealias Output = Response
  package typealias Context = ServiceCaller

  private let names: Set<String>
  private let scope: String?

  /// - Parameter scope: what an outside system's key must have after its plus sign to be let in as well.
  package init(_ names: Set<String>, scope: String? = nil) {
    self.names = names
    self.scope = scope
  }

  package func handle(
    _ request: Request, context: ServiceCaller, next: (Request, ServiceCaller) async throws -> Response
  ) async throws -> Response {
    guard context.service.isAdmitted(as: names, scope: scope) else { throw Failure.wrongServiceKey }
    return try await next(request, context)
  }
}

extension Failure {
  package static let wrongServiceKey = Failure(.forbidden, "wrong_service_key", "A valid service key is needed.")
  package static let serviceKeysUnset = Failure(
    .unavailable, "service_keys_unset", "This server has no service keys configured.")
  package static let invalidToken = Failure(.unauthorized, "invalid_token", "Sign in to continue.")
  package static let expiredToken = Failure(.unauthorized, "token_expired", "Your sign-in has expired.")
  package static let sessionEnded = Failure(.unauthorized, "session_ended", "You have been signed out.")
}
