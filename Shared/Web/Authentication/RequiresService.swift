import Hummingbird
import Wire

/// Rejects services other than those a route is for.
package struct RequiresService: MiddlewareProtocol {
  package typealias Input = Request
  package typealias Output = Response
  package typealias Context = ServiceCaller

  private let names: Set<String>
  private let scope: String?

  /// - Parameters:
  ///   - names: the services that may call.
  ///   - scope: external systems whose key has this scope may call as well.
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

extension RequiresService {
  /// The gateway and every service, for what each process needs: users and ended sessions.
  package static var anyProcess: RequiresService {
    RequiresService(Set(["gateway"] + ServiceName.allCases.map(\.rawValue)))
  }
}
