import Foundation
import Hummingbird
import Logging
import NIOCore
import Wire

/// The request context of all routes: caller, calling service, trace and connection address.
package struct Context: RequestContext {
  package typealias Source = ContextSource

  package var coreContext: CoreRequestContextStorage
  package var caller: Caller = .anonymous
  package var service: CallingService?
  /// Whether this process has service keys; without any, no service is authenticated.
  var hasServiceKeys = true
  package let trace: Trace
  /// Whether a proxy or a service may have forwarded the request.
  let isForwarded: Bool
  private let channel: any Channel

  package init(source: ContextSource) {
    coreContext = .init(source: source)
    trace = source.trace
    isForwarded = source.isForwarded
    channel = source.channel
  }

  /// The peer of the connection: the client or a proxy. nil when it has no IP address.
  var peerAddress: String? { channel.remoteAddress?.ipAddress }

  var isLoopback: Bool {
    guard !isForwarded, let peerAddress else { return false }
    return peerAddress == "::1" || peerAddress.hasPrefix("127.") || peerAddress.hasPrefix("::ffff:127.")
  }
}

/// What a ``Context`` is made from: the connection of a request, and what the headers say about its way here.
package struct ContextSource: RequestContextSource {
  package let logger: Logger
  let channel: any Channel
  let trace: Trace
  let isForwarded: Bool
}

/// The user on whose behalf a request is made, if any.
package enum Caller: Sendable, Hashable {
  /// The request has no credential of a user.
  case anonymous
  case user(UserID, session: SessionID?)
  /// The request has a credential that is not valid.
  case rejected(Failure)
}

/// The context of routes for signed-in users. Its user is not optional, so no handler runs without one.
package struct SignedIn: ChildRequestContext {
  package var coreContext: CoreRequestContextStorage
  package let user: UserID
  package let session: SessionID?

  /// - Throws: 401 without a valid bearer token.
  package init(context: Context) throws {
    switch context.caller {
    case .user(let user, let session):
      self.user = user
      self.session = session
    case .rejected(let failure): throw failure
    case .anonymous: throw Failure.unauthorized
    }
    coreContext = context.coreContext
  }
}

/// The context of routes for other services and external systems.
package struct ServiceCaller: ChildRequestContext {
  package var coreContext: CoreRequestContextStorage
  package let service: CallingService

  /// - Throws: 403 without a valid service key; 503 when this process has no keys configured.
  package init(context: Context) throws {
    guard let service = context.service else {
      throw context.hasServiceKeys ? Failure.wrongServiceKey : .serviceKeysUnset
    }
    self.service = service
    coreContext = context.coreContext
  }
}

extension ServiceCaller {
  /// The user whose id is the path parameter.
  ///
  /// - Throws: 404 when it is not a UUID.
  package func user(_ parameter: String = "id") throws(Failure) -> UserID {
    guard let user = parameters.get(parameter).flatMap({ UserID($0) }) else { throw .userNotFound }
    return user
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
