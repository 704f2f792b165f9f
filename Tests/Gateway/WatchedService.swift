import Foundation
import Hummingbird
import NIOCore
import Support
import Synchronization
import Web
import Wire

/// A service that counts what happens to it.
final class WatchedService: Sendable {
  private struct State {
    var requests = 0
    var completed = 0
    var isReady = true
    var probes = 0
    var answersProbesAfter = Duration.zero
    var bytesSent = 0
    var downloadsCutOff = 0
    var eventsCutOff = 0
    var neverCutOff = 0
    var deaths = 0
    var smallBodies: [Int] = []
    var channels: [ObjectIdentifier: any Channel] = [:]
    var seen: Set<ObjectIdentifier> = []
  }

  private let state = Mutex(State())
  let listening = Listening()
  private let gate = AsyncStream<Void>.makeStream()

  var requests: Int { state.withLock { $0.requests } }
  /// Requests whose body came to its end.
  var completed: Int { state.withLock { $0.completed } }
  var bytesSent: Int { state.withLock { $0.bytesSent } }
  var downloadsCutOff: Int { state.withLock { $0.downloadsCutOff } }
  var eventsCutOff: Int { state.withLock { $0.eventsCutOff } }
  var neverCutOff: Int { state.withLock { $0.neverCutOff } }
  var deaths: Int { state.withLock { $0.deaths } }
  var smallBodies: [Int] { state.withLock { $0.smallBodies } }
  /// How many connections have carried a request.
  var connections: Int { state.withLock { $0.seen.count } }

  /// Lets the event stream go on.
  func proceed() { gate.continuation.yield() }

  /// Says from now on whether it wants requests.
  func setReady(_ isReady: Bool) { state.withLock { $0.isReady = isReady } }

  /// How often it was asked for its health, and has answered.
  var probes: Int { state.withLock { $0.probes } }

  /// How long it takes from now on to say whether it wants requests.
  func answerProbes(after delay: Duration) { state.withLock { $0.answersProbesAfter = delay } }

  func dropConnections() async {
    for channel in state.withLock({ Array($0.channels.values) }) {
      // `try?`: one that has closed is what is wanted.
      try? await channel.close()
    }
  }

  /// - Parameter port: 0: any that is free.
  func server(port: Int = 0) -> some ApplicationProtocol {
    let router = Router(context: WatchedContext.self, options: [.autoGenerateHeadEndpoints])
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
    router.add(middleware: Watch(service: self))
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
      for await _ in gate.stream { break }
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
    return Application(
      router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)),
      onServerRunning: { [listening] channel in listening.opened(on: channel.localAddress?.port ?? 0) }, logger: quiet)
  }

  fileprivate func arrived(on channel: any Channel) {
    state.withLock { state in
      state.requests += 1
      state.seen.insert(ObjectIdentifier(channel))
      state.channels[ObjectIdentifier(channel)] = channel
    }
  }

  @Sendable private func echo(_ request: Request, _ context: WatchedContext) -> Response {
    var headers: [String: String] = [:]
    for field in request.headers { headers[field.name.canonicalName] = field.value }
    let n = request.uri.queryParameters["n"].map(String.init) ?? ""
    return .json(Echo(n: n, headers: headers))
  }

  @Sendable private func count(_ request: Request, _ context: WatchedContext) async throws -> Response {
    var bytes = 0
    for try await part in request.body { bytes += part.readableBytes }
    state.withLock { $0.completed += 1 }
    if request.uri.path == "/small" { state.withLock { $0.smallBodies.append(bytes) } }
    return .json(
      Count(
        bytes: bytes, content_length: request.headers[.contentLength] ?? "",
        timeout: request.headers[.init(Header.timeout)!] ?? ""))
  }

  @Sendable private func download(_ request: Request, _ context: WatchedContext) -> Response {
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

  /// One event at once, the second when the test lets it go on.
  @Sendable private func events(_ request: Request, _ context: WatchedContext) -> Response {
    Response(
      status: .ok, headers: [.contentType: "text/event-stream"],
      body: .init { [self] writer in
        try await writer.write(ByteBuffer(string: "data: 1\n\n"))
        let gate = gate
        try await untilClosed(request, { $0.eventsCutOff += 1 }) { for await _ in gate.stream { break } }
        try await writer.write(ByteBuffer(string: "data: 2\n\n"))
        try await writer.finish(nil)
      })
  }

  /// Runs `body`, and counts when the other side closes before it has ended.
  private func untilClosed(
    _ request: Request, _ count: @escaping @Sendable (inout State) -> Void,
    _ body: @escaping @Sendable () async throws -> Void
  ) async throws {
    try await request.body.consumeWithInboundCloseHandler { _ in
      try await body()
    } onInboundClosed: { [self] in
      state.withLock { count(&$0) }
      gate.continuation.yield()
    }
  }

  @Sendable private func die(_ request: Request, _ context: WatchedContext) async throws -> Response {
    state.withLock { $0.deaths += 1 }
    try await context.channel.close()
    return Response(status: .ok)
  }

  /// Begins to answer before the request has ended, and goes on when the test lets it.
  @Sendable private func early(_ request: Request, _ context: WatchedContext) -> Response {
    Response(
      status: .ok,
      body: .init { [self] writer in
        try await writer.write(ByteBuffer(string: "begun"))
        for await _ in gate.stream { break }
        try await writer.write(ByteBuffer(string: "done"))
        try await writer.finish(nil)
      })
  }

  @Sendable private func never(_ request: Request, _ context: WatchedContext) async throws -> Response {
    let gate = gate
    try await untilClosed(request, { $0.neverCutOff += 1 }) { for await _ in gate.stream { break } }
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
  /// How long the gateway waits for the answer, in milliseconds.
  let timeout: String
}

/// A context that knows its connection.
struct WatchedContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  let channel: any Channel

  init(source: ApplicationRequestContextSource) {
    coreContext = .init(source: source)
    channel = source.channel
  }
}

private struct Watch: RouterMiddleware {
  typealias Context = WatchedContext
  let service: WatchedService

  func handle(
    _ request: Request, context: WatchedContext, next: (Request, WatchedContext) async throws -> Response
  ) async throws -> Response {
    service.arrived(on: context.channel)
    return try await next(request, context)
  }
}
