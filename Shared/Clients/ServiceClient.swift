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

/// Calls one service: with this process's key, the request's id and trace, a deadline, and failures as they were thrown.
struct ServiceClient: Sendable {
  private let service: ServiceName
  private let neighbours: Neighbours
  private let key: String?
  private let logger: Logger
  private let budget = RetryBudget()
  private let complaint = Complaint()

  init(_ service: ServiceName, in surroundings: Surroundings) {
    self.service = service
    self.neighbours = surroundings.neighbours
    self.key = surroundings.settings.nonempty("SERVICE_KEY")
    self.logger = surroundings.logger
  }

  /// What is safe to repeat is tried up to three times: GET, and what has an idempotency key or says so by
  /// `isRepeatable`. Anything is tried again when no connection could be made, as nothing was sent then.
  ///
  /// - Parameter timeout: for all tries together; less when whoever waits for this has less time.
  /// - Throws: the ``Failure`` that the service answered with; ``Failure/unavailable`` when it did not answer in time,
  ///   after which a call that changes something may or may not have done so.
  func call<Reply: Decodable>(
    _ method: HTTPMethod, _ path: CallPath, query: [String: String] = [:], body: (any Encodable & Sendable)? = nil,
    idempotencyKey: String? = nil, isRepeatable: Bool = false, timeout: Duration = .seconds(5),
    bodyBytesMax: Int = 4 * 1024 * 1024, as reply: Reply.Type = Reply.self
  ) async throws -> Reply {
    let end = ContinuousClock.now + Deadline.remaining(of: timeout)
    let isRepeatable = isRepeatable || method == .GET || idempotencyKey != nil
    var urls = neighbours.urls(of: service).shuffled()[...]
    guard !urls.isEmpty else { throw Failure.unavailable }
    let target = path.text + Self.encoded(query)
    let bytes = try body.map { ByteBuffer(data: try JSON.encodeExact($0)) }
    budget.earn()
    for attempt in 1... {
      try Task.checkCancellation()
      let url = urls.removeFirst()
      urls.append(url)
      var request = HTTPClientRequest(url: url + target)
      request.method = method
      request.headers = headers(idempotencyKey: idempotencyKey)
      if let bytes {
        request.headers.add(name: "content-type", value: "application/json")
        request.body = .bytes(bytes)
      }
      switch await answer(to: request, path.template, until: end, bodyBytesMax) {
      case .answered(204, _, _): return try JSON.decode(Reply.self, from: Data("{}".utf8))
      case .answered(let status, let data, _) where (200..<300).contains(status):
        return try JSON.decode(Reply.self, from: data)
      case .answered(let status, let data, let retryAfterSeconds):
        guard isRepeatable, [502, 503, 504].contains(status), try await mayRepeat(attempt, until: end) else {
          throw failure(in: data, retryAfterSeconds)
        }
      case .lost: guard isRepeatable, try await mayRepeat(attempt, until: end) else { throw Failure.unavailable }
      case .notSent: guard try await mayRepeat(attempt, until: end) else { throw Failure.unavailable }
      }
    }
    throw Failure.unavailable
  }

  private enum Attempt {
    case answered(Int, Data, retryAfterSeconds: Int?)
    /// It may or may not have arrived.
    case lost
    case notSent
  }

  private static let triesMax = 3

  /// Waits a little, more after the second try, and differently each time, so that callers do not come back together.
  private func mayRepeat(_ attempt: Int, until end: ContinuousClock.Instant) async throws -> Bool {
    let wait = Duration.milliseconds(Int.random(in: (20 << attempt)...(80 << attempt)))
    guard attempt < Self.triesMax, ContinuousClock.now + wait < end, budget.spend() else { return false }
    try await Task.sleep(for: wait)
    return true
  }

  private func failure(in data: Data, _ retryAfterSeconds: Int?) -> Failure {
    // `try?`: whatever stands in the way of our services may answer in its own words.
    var failure = (try? JSON.decode(Problem.self, from: data))?.failure ?? .unavailable
    if let retryAfterSeconds { failure.retryAfterSeconds = retryAfterSeconds }
    guard failure.code == Failure.wrongServiceKey.code else { return failure }
    // That is between the processes and whoever configured them; our own caller's key may be fine.
    if complaint.isDue {
      logger.error("refused by a service: check SERVICE_KEY", metadata: ["by": "\(service.rawValue)"])
    }
    return .unavailable
  }

  private static func retryAfterSeconds(_ response: HTTPClientResponse) -> Int? {
    response.headers.first(name: "retry-after").flatMap { Int($0) }.flatMap { (0...86_400).contains($0) ? $0 : nil }
  }

  private func answer(
    to request: HTTPClientRequest, _ template: String, until end: ContinuousClock.Instant, _ bodyBytesMax: Int
  ) async -> Attempt {
    let left = (end - .now).milliseconds
    guard left > 0 else { return .notSent }
    var request = request
    request.headers.add(name: Header.timeout, value: String(left))
    let span = ActiveSpan.current?.asking()
    if let span { request.headers.replaceOrAdd(name: Header.traceparent, value: span.context.traceparent) }
    func asked(_ outcome: @autoclosure () -> Outcome) {
      guard let span else { return }
      let url = URL(string: request.url)
      span.asked(
        Asked(request.method.rawValue, template, of: service.rawValue, host: url?.host(), port: url?.port), outcome())
    }
    do {
      let response = try await Outbound.http.execute(request, timeout: .milliseconds(left))
      let body = try await response.body.collect(upTo: bodyBytesMax)
      asked(.answered(Int(response.status.code)))
      return .answered(
        Int(response.status.code), Data(buffer: body), retryAfterSeconds: Self.retryAfterSeconds(response))
    } catch {
      asked(.unanswered(error is CancellationError ? "called_off" : "no_answer"))
      return error is NIOConnectionError || error as? HTTPClientError == .connectTimeout ? .notSent : .lost
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

/// Something that is said once a minute, however often there is reason to.
private final class Complaint: Sendable {
  private let saidAt = Mutex<ContinuousClock.Instant?>(nil)

  /// Whether it is to be said now; then it has been.
  var isDue: Bool {
    saidAt.withLock { saidAt in
      let now = ContinuousClock.now
      if let saidAt, now - saidAt < .seconds(60) { return false }
      saidAt = now
      return true
    }
  }
}

extension Duration {
  fileprivate var milliseconds: Int64 {
    components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
  }
}
