import AsyncHTTPClient
import Foundation
import Logging
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import NIOPosix
import Synchronization
import Traces
import Web
import Wire

/// An HTTP client for one service. Sends this process's service key, the request id, the trace context and the
/// deadline, retries, and decodes errors as ``Failure``.
struct ServiceClient: Sendable {
  private let service: ServiceName
  private let serviceAddresses: ServiceAddresses
  private let key: String?
  private let logger: Logger
  private let budget = RetryBudget()
  private let keyErrorThrottle = LogThrottle()

  init(_ service: ServiceName, in dependencies: Dependencies) {
    self.service = service
    self.serviceAddresses = dependencies.serviceAddresses
    self.key = dependencies.settings.nonempty("SERVICE_KEY")
    self.logger = dependencies.logger
  }

  /// Makes up to three attempts for calls that are safe to repeat: GET, calls with an idempotency key, and those with
  /// `isRepeatable`. Any call is repeated when no connection could be made, as nothing was sent then.
  ///
  /// - Parameters:
  ///   - timeout: for all attempts together; less when the current request's deadline is earlier.
  ///   - client: another one for a service that takes long to reply.
  /// - Throws: the ``Failure`` that the service answered with; ``Failure/unavailable`` when it did not answer in time,
  ///   after which a call that changes something may or may not have done so.
  func call<Reply: Decodable>(
    _ method: HTTPMethod, _ path: CallPath, query: [String: String] = [:], body: (any Encodable & Sendable)? = nil,
    idempotencyKey: String? = nil, isRepeatable: Bool = false, timeout: Duration = .seconds(5),
    through client: HTTPClient = OutboundHTTP.client, bodyBytesMax: Int = 4 * 1024 * 1024,
    as reply: Reply.Type = Reply.self
  ) async throws -> Reply {
    try await call(
      method, path, query: query, json: try body.map { ByteBuffer(data: try JSON.encodeExact($0)) },
      idempotencyKey: idempotencyKey, isRepeatable: isRepeatable, timeout: timeout, through: client,
      bodyBytesMax: bodyBytesMax)
  }

  /// The same with a body that is JSON already.
  func call<Reply: Decodable>(
    _ method: HTTPMethod, _ path: CallPath, query: [String: String] = [:], json bytes: ByteBuffer?,
    idempotencyKey: String? = nil, isRepeatable: Bool = false, timeout: Duration = .seconds(5),
    through client: HTTPClient = OutboundHTTP.client, bodyBytesMax: Int = 4 * 1024 * 1024,
    as reply: Reply.Type = Reply.self
  ) async throws -> Reply {
    var request = HTTPClientRequest(url: path.text + Self.encoded(query))
    request.method = method
    request.headers = headers(idempotencyKey: idempotencyKey)
    if let bytes {
      request.headers.add(name: "content-type", value: "application/json")
      request.body = .bytes(bytes)
    }
    let call = OutgoingCall(
      request: request, template: path.template,
      isRepeatable: isRepeatable || method == .GET || idempotencyKey != nil, timeout: timeout)
    let data = try await body(of: call, through: client) { response in
      let body = try await response.body.collect(upTo: bodyBytesMax)
      return response.status == .noContent ? Data("{}".utf8) : Data(buffer: body)
    }
    return try JSON.decode(Reply.self, from: data)
  }

  /// The body of a GET; nil when it has more than `bytesMax`. Repeated, and throws, as any call.
  func bytes(of path: CallPath, upTo bytesMax: Int, timeout: Duration) async throws -> ByteBuffer? {
    try await body(of: get(path, timeout)) { response -> ByteBuffer? in
      do { return try await response.body.collect(upTo: bytesMax) } catch is NIOTooManyBytesError { return nil }
    }
  }

  /// The body of a GET, which arrives while it is read. Repeated, and throws, as any call until it begins; after that
  /// the sequence throws.
  ///
  /// - Parameter timeout: until it begins.
  func stream(of path: CallPath, timeout: Duration) async throws -> HTTPClientResponse.Body {
    try await body(of: get(path, timeout), through: OutboundHTTP.clientForStreams) { $0.body }
  }

  private func get(_ path: CallPath, _ timeout: Duration) -> OutgoingCall {
    var request = HTTPClientRequest(url: path.text)
    request.headers = headers(idempotencyKey: nil)
    return OutgoingCall(request: request, template: path.template, isRepeatable: true, timeout: timeout)
  }

  /// A call, before an address of the service has been chosen for it.
  private struct OutgoingCall {
    /// Its URL is a path.
    let request: HTTPClientRequest
    let template: String
    let isRepeatable: Bool
    let timeout: Duration
  }

  /// - Parameter read: reads the body of a successful response. When it throws, the attempt has failed.
  private func body<Body: Sendable>(
    of call: OutgoingCall, through client: HTTPClient = OutboundHTTP.client,
    _ read: (HTTPClientResponse) async throws -> Body
  ) async throws -> Body {
    let end = ContinuousClock.now + Deadline.remaining(of: call.timeout)
    var urls = serviceAddresses.urls(of: service).shuffled()[...]
    guard !urls.isEmpty else { throw Failure.unavailable }
    budget.earn()
    for attempt in 1... {
      try Task.checkCancellation()
      let url = urls.removeFirst()
      urls.append(url)
      var request = call.request
      request.address(toProcessAt: url + call.request.url)
      switch await send(request, call.template, until: end, through: client, read) {
      case .success(let body): return body
      case .failure(let status, let data, let retryAfterSeconds):
        guard call.isRepeatable, [502, 503, 504].contains(status), try await mayRetry(attempt, until: end) else {
          throw failure(in: data, retryAfterSeconds)
        }
      case .noResponse:
        guard call.isRepeatable, try await mayRetry(attempt, until: end) else { throw Failure.unavailable }
      case .notSent: guard try await mayRetry(attempt, until: end) else { throw Failure.unavailable }
      }
    }
    throw Failure.unavailable
  }

  /// The result of one attempt.
  private enum Attempt<Body> {
    case success(Body)
    case failure(Int, Data, retryAfterSeconds: Int?)
    /// The request may or may not have arrived.
    case noResponse
    case notSent
  }

  private static let attemptsMax = 3

  /// Whether another attempt is allowed, after a wait with exponential backoff and jitter.
  private func mayRetry(_ attempt: Int, until end: ContinuousClock.Instant) async throws -> Bool {
    let wait = Duration.milliseconds(Int.random(in: (20 << attempt)...(80 << attempt)))
    guard attempt < Self.attemptsMax, ContinuousClock.now + wait < end, budget.spend() else { return false }
    try await Task.sleep(for: wait)
    return true
  }

  private func failure(in data: Data, _ retryAfterSeconds: Int?) -> Failure {
    // `try?`: a proxy in front of the service may answer in another format.
    var failure = (try? JSON.decode(Problem.self, from: data))?.failure ?? .unavailable
    if let retryAfterSeconds { failure.retryAfterSeconds = retryAfterSeconds }
    guard failure.code == Failure.wrongServiceKey.code else { return failure }
    // A configuration error between the processes, which is not the caller's fault.
    if keyErrorThrottle.allows() {
      logger.error("refused by a service: check SERVICE_KEY", metadata: ["by": "\(service.rawValue)"])
    }
    return .unavailable
  }

  private static func retryAfterSeconds(_ response: HTTPClientResponse) -> Int? {
    response.headers.first(name: "retry-after").flatMap { Int($0) }.flatMap { (0...86_400).contains($0) ? $0 : nil }
  }

  private static let failureBytesMax = 4 * 1024 * 1024

  private func send<Body>(
    _ request: HTTPClientRequest, _ template: String, until end: ContinuousClock.Instant, through client: HTTPClient,
    _ read: (HTTPClientResponse) async throws -> Body
  ) async -> Attempt<Body> {
    let remaining = (end - .now).milliseconds
    guard remaining > 0 else { return .notSent }
    var request = request
    request.headers.add(name: Header.timeout, value: String(remaining))
    let span = ActiveSpan.current?.beginClientSpan()
    if let span { request.headers.replaceOrAdd(name: Header.traceparent, value: span.context.traceparent) }
    func endSpan(_ outcome: @autoclosure () -> RequestOutcome) {
      guard let span else { return }
      let url = URL(string: request.url)
      let host = SocketURL.path(in: request.url) ?? url?.host()
      span.endClientSpan(
        OutgoingRequest(request.method.rawValue, template, of: service.rawValue, host: host, port: url?.port),
        outcome())
    }
    do {
      let response = try await client.execute(request, timeout: .milliseconds(remaining))
      let status = Int(response.status.code)
      guard !(200..<300).contains(status) else {
        let body = try await read(response)
        endSpan(.response(status))
        return .success(body)
      }
      let body = try await response.body.collect(upTo: Self.failureBytesMax)
      endSpan(.response(status))
      return .failure(status, Data(buffer: body), retryAfterSeconds: Self.retryAfterSeconds(response))
    } catch {
      endSpan(.noResponse(error is CancellationError ? "called_off" : "no_answer"))
      return Self.hasNoConnection(error) ? .notSent : .noResponse
    }
  }

  /// Whether no connection could be made.
  private static func hasNoConnection(_ error: any Error) -> Bool {
    switch error {
    case is NIOConnectionError: true
    case let error as HTTPClientError: error == .connectTimeout
    // Nobody listens. Over a Unix socket also: there is no file, or not for this user, or the accept queue is full.
    case let error as IOError: [ECONNREFUSED, ENOENT, EACCES, EAGAIN].contains(error.errnoCode)
    default: false
    }
  }

  private func headers(idempotencyKey: String?) -> HTTPHeaders {
    var headers = HTTPHeaders()
    if let key { headers.add(name: Header.serviceKey, value: key) }
    if let idempotencyKey { headers.add(name: Header.idempotencyKey, value: idempotencyKey) }
    if let trace = Trace.current {
      headers.add(name: Header.requestID, value: trace.requestID)
      if let traceparent = trace.traceparent { headers.add(name: Header.traceparent, value: traceparent) }
      if let tracestate = trace.tracestate { headers.add(name: Header.tracestate, value: tracestate) }
    }
    return headers
  }

  private static func encoded(_ query: [String: String]) -> String {
    guard !query.isEmpty else { return "" }
    let parts = query.sorted { $0.key < $1.key }.map { name, value in
      "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
    }
    return "?" + parts.joined(separator: "&")
  }
}

/// Limits a log message to one per minute.
private final class LogThrottle: Sendable {
  private let loggedAt = Mutex<ContinuousClock.Instant?>(nil)

  /// Whether the message may be logged now. Starts the next minute if so.
  func allows() -> Bool {
    loggedAt.withLock { loggedAt in
      let now = ContinuousClock.now
      if let loggedAt, now - loggedAt < .seconds(60) { return false }
      loggedAt = now
      return true
    }
  }
}

extension Duration {
  fileprivate var milliseconds: Int64 {
    components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
  }
}
