import NIOHTTP1

/// Finds the route of a method and a path, with or without a trailing slash.
struct RouteTable: Sendable {
  private struct Methods: Sendable {
    var routes: [Route] = []
  }

  private struct Pattern: Sendable {
    let segments: [Substring]
    var methods: Methods

    func matches(_ path: [Substring]) -> Bool {
      path.count == segments.count && zip(segments, path).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
    }
  }

  /// Paths without variables, by themselves; the others in the order of the table.
  private var exact: [Substring: Methods] = [:]
  private var patterns: [Pattern] = []

  init(_ routes: [Route]) {
    for route in routes {
      let path = Self.trimmed(route.path[...])
      if !path.contains("{") {
        exact[path, default: Methods()].routes.append(route)
      } else if let index = patterns.firstIndex(where: { $0.segments == path.split(separator: "/") }) {
        patterns[index].methods.routes.append(route)
      } else {
        patterns.append(Pattern(segments: path.split(separator: "/"), methods: Methods(routes: [route])))
      }
    }
  }

  enum Match {
    case route(Route)
    case notFound
    case otherMethods([String])
  }

  func match(_ method: HTTPMethod, _ path: Substring) -> Match {
    let path = Self.trimmed(path)
    guard let methods = exact[path] ?? pattern(path) else { return .notFound }
    for route in methods.routes where route.method == method { return .route(route) }
    if method == .HEAD, let get = methods.routes.first(where: { $0.method == .GET }) { return .route(get) }
    return .otherMethods(methods.routes.map(\.method.rawValue).sorted())
  }

  private func pattern(_ path: Substring) -> Methods? {
    guard !patterns.isEmpty else { return nil }
    let segments = path.split(separator: "/")
    return patterns.first { $0.matches(segments) }?.methods
  }

  private static func trimmed(_ path: Substring) -> Substring {
    path.utf8.count > 1 && path.utf8.last == UInt8(ascii: "/") ? path.dropLast() : path
  }
}
