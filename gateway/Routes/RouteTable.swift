import StrictHTTP

/// Finds what answers a method and a path, with or without a trailing slash. A tree of segments: a literal one wins over
/// a variable one.
struct RouteTable: Sendable {
  enum Match {
    case route(Route)
    case own(OwnRoute)
    case notFound
    case otherMethods(Methods)
  }

  /// The methods that a path has.
  struct Methods: Sendable {
    fileprivate(set) var routes: [Route] = []
    fileprivate(set) var own: OwnRoute?

    /// As `Allow` lists them: GET brings HEAD, and OPTIONS is everywhere.
    var names: [String] {
      var methods = Set(routes.map(\.method))
      if own != nil { methods.insert(.GET) }
      if methods.contains(.GET) { methods.insert(.HEAD) }
      methods.insert(.OPTIONS)
      return methods.map(\.rawValue).sorted()
    }

    fileprivate func match(_ method: RequestHead.Method) -> Match {
      for route in routes where route.method == method { return .route(route) }
      if method == .HEAD || method == .GET {
        if let own { return .own(own) }
        for route in routes where route.method == .GET { return .route(route) }
      }
      return .otherMethods(self)
    }
  }

  private struct Node: Sendable {
    var children: [(segment: [UInt8], node: Int)] = []
    var variable: Int?
    var methods: Methods?
  }

  private var nodes = [Node()]
  let routes: [Route]

  init(_ routes: [Route], own: [OwnRoute] = OwnRoute.allCases) {
    self.routes = routes
    for route in routes { add(route.path) { $0.routes.append(route) } }
    for route in own { add(route.rawValue) { $0.own = route } }
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
    let isVariable = segment.hasPrefix("{")
    let known = isVariable ? nodes[node].variable : nodes[node].children.first { $0.segment == bytes }?.node
    if let known { return known }
    nodes.append(Node())
    if isVariable {
      nodes[node].variable = nodes.count - 1
    } else {
      nodes[node].children.append((bytes, nodes.count - 1))
    }
    return nodes.count - 1
  }

  func match(_ method: RequestHead.Method, _ bytes: Span<UInt8>, _ path: Slice) -> Match {
    guard let methods = find(bytes, path.start + 1, path.end, from: 0, depth: 0) else { return .notFound }
    return methods.match(method)
  }

  /// Paths are at most this deep, so a tree walk that has to turn back stays short.
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
    guard let variable = nodes[node].variable else { return nil }
    return find(bytes, segmentEnd + 1, end, from: variable, depth: depth + 1)
  }

  private func equal(_ segment: [UInt8], _ bytes: Span<UInt8>, _ start: Int, _ end: Int) -> Bool {
    guard segment.count == end - start else { return false }
    for index in 0..<segment.count where segment[index] != bytes[start + index] { return false }
    return true
  }
}

/// What the gateway answers by itself.
enum OwnRoute: String, Sendable, CaseIterable {
  case root = "/"
  case health = "/health"
  case apiHealth = "/api/health"
  case live = "/health/live"
  case ready = "/health/ready"
  case status = "/api/v1/status"
  case openAPI = "/openapi.json"
  case metrics = "/metrics"
  case docs = "/docs"
  case reference = "/redoc"
  case pagesStyle = "/docs/pages.css"
  case pagesScript = "/docs/pages.js"

  /// What balancers and monitors ask for all the time.
  var isHealth: Bool {
    switch self {
    case .health, .apiHealth, .live, .ready, .status: true
    case .root, .openAPI, .metrics, .docs, .reference, .pagesStyle, .pagesScript: false
    }
  }
}
