import Foundation
import Hummingbird
import NIOCore
import Support
import Synchronization
import Web
import Wire

/// A service that counts requests, connections and aborted exchanges.
final class TestService: Sendable {
  private struct State {
    var requests = 0
    var completedBodies = 0
    var isReady = true
    var probes = 0
    var answersProbesAfter = Duration.zero
    var bytesSent = 0
    var downloadsCutOff = 0
    var eventsCutOff = 0
    var unansweredCutOff = 0
    var abortedRequests = 0
    var smallBodySizes: [Int] = []
    var channels: [ObjectIdentifier: any Channel] = [:]
    var channelIDs: Set<ObjectIdentifier> = []
  }

  private let state = Mutex(State())
  let listening = ListeningPort()
  private let resumeSignal = AsyncStream<Void>.makeStream()

  var requests: Int { state.withLock { $0.requests } }
  /// Requests whose body was received completely.
  var completedBodies: Int { state.withLock { $0.completedBodies } }
  var bytesSent: Int { state.withLock { $0.bytesSent } }
  var downloadsCutOff: Int { state.withLock { $0.downloadsCutOff } }
  var eventsCutOff: Int { state.withLock { $0.eventsCutOff } }
  var unansweredCutOff: Int { state.withLock { $0.unansweredCutOff } }
  var abortedRequests: Int { state.withLock { $0.abortedRequests } }
  var smallBodySizes: [Int] { state.withLock { $0.smallBodySizes } }
  /// How many connections have carried a request.
  var connections: Int { state.withLock { $0.channelIDs.count } }

  /// Lets a response that waits for the test continue.
  func resume() { resumeSignal.continuation.yield() }

  /// Sets whether it answers probes with "ready".
  func setReady(_ isReady: Bool) { state.withLock { $0.isReady = isReady } }

  /// How many probes it has answered.
  var probes: Int { state.withLock { $0.probes } }

  /// Sets how long it takes to answer a probe.
  func answerProbes(after delay: Duration) { state.withLock { $0.answersProbesAfter = delay } }

  func dropConnections() async {
    for channel in state.withLock({ Array($0.channels.values) }) {
      // `try?`: a connection that is already closed is fine.
      try? await channel.close()
    }
  }

  /// - Parameter port: 0 for any free port.
  func server(port: Int = 0) -> some ApplicationProtocol {
    let router = Router(context: TestServiceContext.self, options: [.autoGenerateHeadEndpoints])
    router.get("/health/ready") { [self] _, _ in
      let began = ContinuousClock.now
      while ContinuousClock.now - began < state.withLock({ $0.answersProbesAfter }) {
        try await Task.sleep(for: .milliseconds(10))
      }
      return state.withLock { state in
        state.probes += 1
        return Response(status: state.isReady ? .ok : .serviceUnavailable)
      }
    }
    router.add(middleware: RequestCounter(service: self))
    router.get("/echo", use: echo)
    router.get("/who", use: echo)
    router.delete("/count", use: count)
    router.get("/leak") { _, _ in
      Response(
        status: .ok, headers: [.serviceKey: "secret", .userID: "someone", .endedSessions: "x"],
        body: .init(byteBuffer: .init(string: "{}")))
    }
    router.get("/guarded") { _, _ in
      Response(
        status: .ok,
        headers: [
          .init("Referrer-Policy")!: "same-origin", .xContentTypeOptions: "nosniff",
          .contentSecurityPolicy: "default-src 'self'",
        ])
    }
    router.post("/count", use: count)
    router.post("/upload", use: count)
    router.post("/hold") { [self] request, context in
      for await _ in resumeSignal.stream { break }
      return try await count(request, context)
    }
    router.post("/small", use: count)
    router.post("/hurry", use: count)
    router.post("/patient", use: count)
    router.post("/patient-large", use: count)
    router.post("/try", use: count)
    router.get("/download", use: download)
    router.get("/events", use: events)
    router.get("/quiet", use: events)
    router.get("/ended") { request, _ in
      let sessions = request.uri.queryParameters["sessions"].map(String.init) ?? ""
      return Response(status: .ok, headers: [.endedSessions: sessions], body: .init(byteBuffer: .init(string: "{}")))
    }
    router.delete("/echo") { _, _ in Response(status: .noContent, headers: [.contentLength: "0"]) }
    router.get("/die", use: die)
    router.post("/die", use: die)
    router.get("/never", use: never)
    router.post("/early", use: early)
    router.post("/early-hurry", use: early)
    return loopbackServer(router, listening, port: port)
  }

  fileprivate func arrived(on channel: any Channel) {
    state.withLock { state in
      state.requests += 1
      state.channelIDs.insert(ObjectIdentifier(channel))
      state.channels[ObjectIdentifier(channel)] = channel
    }
  }

  @Sendable private func echo(_ request: Request, _ context: TestServiceContext) -> Response {
    var headers: [String: String] = [:]
    for field in request.headers { headers[field.name.canonicalName] = field.value }
    let n = request.uri.queryParameters["n"].map(String.init) ?? ""
    return .json(Echo(n: n, headers: headers))
  }

  @Sendable private func count(_ request: Request, _ context: TestServiceContext) async throws -> Response {
    var bytes = 0
    for try await part in request.body { bytes += part.readableBytes }
    state.withLock { $0.completedBodies += 1 }
    if request.uri.path == "/small" { state.withLock { $0.smallBodySizes.append(bytes) } }
    return .json(
      Count(
        bytes: bytes, content_length: request.headers[.contentLength] ?? "",
        timeout: request.headers[.init(Header.timeout)!] ?? ""))
  }

  @Sendable private func download(_ request: Request, _ context: TestServiceContext) -> Response {
    let size = request.uri.queryParameters["bytes"].flatMap { Int($0) } ?? 0
    return Response(
      status: .ok,
      body: .init(contentLength: request.uri.queryParameters["told"] == nil ? nil : size) { [self] writer in
        let block = ByteBuffer(repeating: 0x62, count: 64 * 1024)
        do {
          for _ in 0..<(size / block.readableBytes) {
            try await writer.write(block)
            state.withLock { $0.bytesSent += block.readableBytes }
          }
          try await writer.finish(nil)
        } catch {
          state.withLock { $0.downloadsCutOff += 1 }
          throw error
        }
      })
  }

  /// Sends one event at once, and the second when the test calls `resume()`.
  @Sendable private func events(_ request: Request, _ context: TestServiceContext) -> Response {
    Response(
      status: .ok, headers: [.contentType: "text/event-stream"],
      body: .init { [self] writer in
        try await writer.write(ByteBuffer(string: "data: 1\n\n"))
        let resumeSignal = resumeSignal
        try await untilClosed(request, { $0.eventsCutOff += 1 }) { for await _ in resumeSignal.stream { break } }
        try await writer.write(ByteBuffer(string: "data: 2\n\n"))
        try await writer.finish(nil)
      })
  }

  /// Runs `body`, and counts when the client closes the connection before it has ended.
  private func untilClosed(
    _ request: Request, _ count: @escaping @Sendable (inout State) -> Void,
    _ body: @escaping @Sendable () async throws -> Void
  ) async throws {
    try await request.body.consumeWithInboundCloseHandler { _ in
      try await body()
    } onInboundClosed: { [self] in
      state.withLock { count(&$0) }
      resumeSignal.continuation.yield()
    }
  }

  @Sendable private func die(_ request: Request, _ context: TestServiceContext) async throws -> Response {
    state.withLock { $0.abortedRequests += 1 }
    try await context.channel.close()
    return Response(status: .ok)
  }

  /// Begins its response before the request has ended, and continues when the test calls `resume()`.
  @Sendable private func early(_ request: Request, _ context: TestServiceContext) -> Response {
    Response(
      status: .ok,
      body: .init { [self] writer in
        try await writer.write(ByteBuffer(string: "begun"))
        for await _ in resumeSignal.stream { break }
        try await writer.write(ByteBuffer(string: "done"))
        try await writer.finish(nil)
      })
  }

  @Sendable private func never(_ request: Request, _ context: TestServiceContext) async throws -> Response {
    let resumeSignal = resumeSignal
    try await untilClosed(request, { $0.unansweredCutOff += 1 }) { for await _ in resumeSignal.stream { break } }
    return Response(status: .ok)
  }
}

private struct Echo: Encodable {
  let n: String
  let headers: [String: String]
}

private struct Count: Encodable {
  let bytes: Int
  let content_length: String
  /// How long the gateway waits for the response, in milliseconds.
  let timeout: String
}

/// A request context with the channel of its connection.
struct TestServiceContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  let channel: any Channel

  init(source: ApplicationRequestContextSource) {
    coreContext = .init(source: source)
    channel = source.channel
  }
}

private struct RequestCounter: RouterMiddleware {
  typealias Context = TestServiceContext
  let service: TestService

  func handle(
    _ request: Request, context: TestServiceContext, next: (Request, TestServiceContext) async throws -> Response
  ) async throws -> Response {
    service.arrived(on: context.channel)
    return try await next(request, context)
  }
}
