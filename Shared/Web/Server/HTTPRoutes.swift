import HTTPTypes
import Hummingbird

/// The routes of a service: Hummingbird's router, with a table of the paths without variables before it. Most requests
/// have such a path, which is found in one step instead of one for each of its parts.
package final class HTTPRoutes: RouterMethods {
  private let router = Router(context: Context.self, options: [.autoGenerateHeadEndpoints])
  private var table: RouteTable = [:]
  private(set) var loopRoutes: [LoopRoute] = []

  @discardableResult package func on<Responder: HTTPResponder>(
    _ path: RouterPath, method: HTTPRequest.Method, responder: Responder
  ) -> Self where Responder.Context == Context {
    router.on(path, method: method, responder: responder)
    // A variable is in braces or behind a colon; a wildcard is a star.
    guard !path.description.contains(where: { "{}:*".contains($0) }) else { return self }
    table[path.description, default: [:]][method] = router.middlewares.constructResponder(finalResponder: responder)
    return self
  }

  @discardableResult package func add(middleware: any MiddlewareProtocol<Request, Response, Context>) -> Self {
    router.add(middleware: middleware)
    return self
  }

  /// Adds a way to respond on the event loop to the plain case of a GET route that is also added.
  ///
  /// - Parameters:
  ///   - template: the path of the route, with one variable at most.
  ///   - respond: nil for a request that is left to the route.
  /// - Precondition: the route has been added.
  /// - Throws: what `respond` throws is the failure that the caller gets, as in a route.
  package func onLoop(_ template: String, respond: @escaping @Sendable (LoopRequest) throws -> LoopResult?) {
    precondition(
      router.routes.contains { $0.method == .get && $0.path.description == template }, "there is no GET \(template)")
    loopRoutes.append(LoopRoute(template, respond: respond))
  }

  var registered: [RegisteredRoute] {
    router.routes.map { RegisteredRoute(method: $0.method.rawValue, path: $0.path) }
  }

  var responder: RouteResponder { RouteResponder(table: table, router: router.buildResponder()) }
}

typealias RouteTable = [String: [HTTPRequest.Method: any HTTPResponder<Context>]]

/// Finds the route of a request. A path that is not in the table as it is, with a slash at its end for example, is the
/// router's to find.
struct RouteResponder: HTTPResponder {
  fileprivate let table: RouteTable
  fileprivate let router: RouterResponder<Context>

  func respond(to request: Request, context: Context) async throws -> Response {
    let path = request.uri.path
    guard let responder = table[path]?[request.method] else {
      return try await router.respond(to: request, context: context)
    }
    context.coreContext.endpointPath.value = path
    do { return try await responder.respond(to: request, context: context) } catch let error as any HTTPResponseError {
      return try error.response(from: request, context: context)
    }
  }
}

/// A method and a path template that a service has.
struct RegisteredRoute: Sendable {
  let method: String
  let path: RouterPath
}
