import Foundation

/// One call of the API, before it is sent.
struct Call: Sendable {
  enum Method: String, Sendable {
    case get = "GET"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
  }

  enum Bearer: Sendable { case required, ifSignedIn, none }

  var method: Method
  var path: Path
  var query: [(name: String, value: String)] = []
  var headers: [String: String] = [:]
  var body: HTTPRequest.Body?
  var bearer = Bearer.required
  /// Whether the server does it once, however often it comes.
  var isRepeatable = true
  /// The same for each attempt of this call. An app that repeats a call after a restart gives its own.
  var idempotencyKey: String?
  var timeoutSeconds: Double = 30
  var cache: CachePolicy?
  /// What else a change makes stale.
  var alsoStale: Set<CachePolicy.Area> = []

  private init(_ method: Method, _ path: Path) {
    self.method = method
    self.path = path
    if method != .get { idempotencyKey = UUID().uuidString.lowercased() }
  }

  static func get(_ path: Path, _ query: [String: String?] = [:], cache: CachePolicy? = nil) -> Call {
    var call = Call(.get, path)
    call.cache = cache
    call.query = query.compactMap { name, value in value.map { (name, $0) } }.sorted { $0.name < $1.name }
    return call
  }

  static func delete(_ path: Path, _ query: [String: String?] = [:]) -> Call {
    var call = get(path, query)
    call.method = .delete
    call.idempotencyKey = UUID().uuidString.lowercased()
    return call
  }

  static func post(_ path: Path, _ body: some Encodable & Sendable = [String: String]()) throws -> Call {
    try Call(.post, path).with(json: body)
  }

  static func put(_ path: Path, _ body: some Encodable & Sendable = [String: String]()) throws -> Call {
    try Call(.put, path).with(json: body)
  }

  static func patch(_ path: Path, _ body: some Encodable & Sendable) throws -> Call {
    try Call(.patch, path).with(json: body)
  }

  func with(json body: some Encodable) throws -> Call {
    var call = self
    call.body = .data(try WireCoding.encode(body))
    call.headers["Content-Type"] = "application/json"
    return call
  }

  /// With changes that read well in a chain.
  func with(_ change: (inout Call) -> Void) -> Call {
    var call = self
    change(&call)
    return call
  }

  /// What a change makes stale.
  var staleAreas: Set<CachePolicy.Area> { method == .get ? [] : alsoStale.union(cache.map { [$0.area] } ?? []) }

  /// Without a bearer.
  var anonymous: Call { with { $0.bearer = .none } }

  /// Sent once: the server does it as often as it comes, or a repetition would have another result, such as a code that
  /// was used.
  var once: Call { with { $0.isRepeatable = false } }

  func request(to base: URL) throws -> HTTPRequest {
    guard var components = URLComponents(url: base, resolvingAgainstBaseURL: false) else {
      throw KithFailure.invalid("\(base) is no base URL")
    }
    let prefix = components.percentEncodedPath
    components.percentEncodedPath = (prefix.hasSuffix("/") ? String(prefix.dropLast()) : prefix) + path.text
    if !query.isEmpty {
      components.percentEncodedQuery =
        query.map { "\(Path.escaped($0.name))=\(Path.escaped($0.value))" }.joined(separator: "&")
    }
    guard let url = components.url else { throw KithFailure.invalid("\(path.text) is no path") }
    var request = HTTPRequest(
      method.rawValue, url, headers: headers, body: body, timeoutSeconds: timeoutSeconds)
    if request.headers["Accept"] == nil { request.headers["Accept"] = "application/json" }
    request.headers["Idempotency-Key"] = idempotencyKey
    return request
  }
}
