import StrictHTTP

/// Finds the route of a method and a path, with or without a trailing slash. A tree of segments, in which a literal
/// segment takes precedence over a parameter.
struct RouteTable: Sendable {
  enum Match {
    case route(Route)
    case local(LocalRoute)
    case notFound
    case methodNotAllowed(Methods)
  }

  /// The methods that a path has.
  struct Methods: Sendable {
    fileprivate(set) var routes: [Route] = []
    fileprivate(set) var local: LocalRoute?

    /// The value of `Allow`, sorted. GET implies HEAD, and every path allows OPTIONS.
    var names: [String] {
      var methods = Set(routes.map(\.method))
      if local != nil { methods.insert(.GET) }
      if methods.contains(.GET) { methods.insert(.HEAD) }
      methods.insert(.OPTIONS)
      return methods.map(\.rawValue).sorted()
    }

    fileprivate func match(_ method: RequestHead.Method) -> Match {
      for route in routes where route.method == method { return .route(route) }
      if method == .HEAD || method == .GET {
        if let local { return .local(local) }
        for route in routes where route.method == .GET { return .route(route) }
      }
      return .methodNotAllowed(self)
    }
  }

  private struct Node: Sendable {
    var children: [(segment: [UInt8], node: Int)] = []
    var parameter: Int?
    var methods: Methods?
  }

  private var nodes = [Node()]
  let routes: [Route]

  init(_ routes: [Route], local: [LocalRoute] = LocalRoute.allCases) {
    self.routes = routes
    for route in routes { add(route.path) { $0.routes.append(route) } }
    for route in local { add(route.rawValue) { $0.local = route } }
  }

  private mutating func add(_ path: String, _ change: (inout Methods) -> Void) {
    var node = 0
    for segment in path.split(separator: "/") { node = child(of: node, segment) }
    var methods = nodes[node].methods ?? Methods()
    change(&methods)
    nodes[node].methods = methods
  }

  private mutating func child(of node: Int, _ segment: Substring) -> Int {
    let bytes = Array(segment.utf8)
    let isParameter = segment.hasPrefix("{")
    let existing = isParameter ? nodes[node].parameter : nodes[node].children.first { $0.segment == bytes }?.node
    if let existing { return existing }
    nodes.append(Node())
    if isParameter {
      nodes[node].parameter = nodes.count - 1
    } else {
      nodes[node].children.append((bytes, nodes.count - 1))
    }
    return nodes.count - 1
  }

  func match(_ method: RequestHead.Method, _ bytes: Span<UInt8>, _ path: HeadSlice) -> Match {
    guard let methods = find(bytes, path.start + 1, path.end, from: 0, depth: 0) else { return .notFound }
    return methods.match(method)
  }

  /// Bounds the depth of the search, and with it the backtracking.
  private static let depthMax = 12

  private func find(_ bytes: Span<UInt8>, _ start: Int, _ end: Int, from node: Int, depth: Int) -> Methods? {
    guard start < end else { return nodes[node].methods }
    guard depth < Self.depthMax else { return nil }
    var segmentEnd = start
    while segmentEnd < end, bytes[segmentEnd] != UInt8(ascii: "/") { segmentEnd += 1 }
    for index in nodes[node].children.indices where equal(nodes[node].children[index].segment, bytes, start, segmentEnd)
    {
      let next = nodes[node].children[index].node
      if let found = find(bytes, segmentEnd + 1, end, from: next, depth: depth + 1) { return found }
    }
    guard let parameter = nodes[node].parameter else { return nil }
    return find(bytes, segmentEnd + 1, end, from: parameter, depth: depth + 1)
  }

  private func equal(_ segment: [UInt8], _ bytes: Span<UInt8>, _ start: Int, _ end: Int) -> Bool {
    guard segment.count == end - start else { return false }
    for index in 0..<segment.count where segment[index] != bytes[start + index] { return false }
    return true
  }
}
