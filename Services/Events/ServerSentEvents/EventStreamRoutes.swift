import Foundation
import HTTPTypes
import Hummingbird
import ServiceLifecycle
import Synchronization
import Web
import Wire

/// `GET /realtime/v1/events`: topics as server-sent events, for clients without a WebSocket.
struct EventStreamRoutes: Sendable {
  let store: LogStore
  let watches: StreamWatches
  let rights: TopicRights
  let verifier: CredentialVerifier
  let limits: ConnectionLimits
  let metrics: EventMetrics

  private static let topicsMax = 100

  func add(to routes: HTTPRoutes) {
    routes.get("/realtime/v1/events") { request, context in
      let context = try await metrics.counting { try SignedIn(context: context) }
      return try await stream(request, context)
    }
  }

  private func stream(_ request: Request, _ context: SignedIn) async throws -> Response {
    let topics = try topics(of: request)
    let start = try await metrics.counting {
      try StreamPosition(of: topics, lastEventID: request.headers[.lastEventID])
    }
    let credential = try await metrics.counting { try await self.credential(of: request, context) }
    let watch = StreamWatch(user: credential.user, topics: topics.map(\.text))
    // Before the rights are asked for, so that a change in between is not missed.
    watches.add(watch)
    let connection: OpenConnection
    do {
      try await metrics.counting { try await requireReadable(topics, credential.user) }
      guard let opened = await limits.open(by: credential.user) else {
        metrics.refused(.sockets)
        throw Failure(.limited, "too_many_streams", "Too many connections are open.", retryAfterSeconds: 5)
      }
      connection = opened
    } catch {
      watches.remove(watch)
      throw error
    }
    let stream = EventStream(
      store: store, watch: watch, credential: credential, verifier: verifier, metrics: metrics)
    metrics.open.add(1, .streams)
    let registration = StreamRegistration { [watches, limits, metrics] in
      watches.remove(watch)
      limits.close(connection)
      metrics.open.add(-1, .streams)
    }
    return Response(
      status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
      body: .init { writer in
        defer { registration.end() }
        try await Self.write(stream, from: start, to: &writer)
        try await writer.finish(nil)
      })
  }

  private static func write(
    _ stream: EventStream, from start: StreamPosition, to writer: inout any ResponseBodyWriter
  ) async throws {
    try await withGracefulShutdownHandler {
      try await stream.write(from: start, to: &writer)
    } onGracefulShutdown: { [watch = stream.watch] in
      watch.stop()
    }
  }

  private func topics(of request: Request) throws -> [TopicName] {
    let names = request.uri.queryParameters.getAll("topic").map { $0.trimmingPrefix("realtime:") }
    let topics = names.compactMap { TopicName($0) }
    guard !names.isEmpty, topics.count == names.count, topics.count <= Self.topicsMax else {
      metrics.refused(.name)
      throw Failure(
        .malformed, "invalid_topic", "topic must name 1 to \(Self.topicsMax) topics: topic=lists:42&topic=users:…")
    }
    return topics.reduce(into: []) { topics, topic in
      if !topics.contains(topic) { topics.append(topic) }
    }
  }

  /// The token itself says when it expires; a request that the gateway has verified may come without it.
  private func credential(of request: Request, _ context: SignedIn) async throws -> Credential {
    guard let token = request.bearer else {
      return Credential(user: context.user, session: context.session, expiresAt: nil)
    }
    do { return try await verifier.credential(of: token) } catch is CredentialRejected {
      throw Failure.invalidToken
    }
  }

  private func requireReadable(_ topics: [TopicName], _ user: UserID) async throws {
    for topic in topics where try await !rights.mayRead(topic, user) { throw Failure.forbidden }
  }
}

/// Ends what a response has registered, once: when its body ends, or when the connection closes before it began.
private final class StreamRegistration: Sendable {
  private let onEnd: @Sendable () -> Void
  private let isEnded = Atomic(false)

  init(_ onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

  deinit { end() }

  func end() {
    guard !isEnded.exchange(true, ordering: .relaxed) else { return }
    onEnd()
  }
}

extension HTTPField.Name {
  // `!`: a constant that is a valid token.
  static let lastEventID = Self("last-event-id")!
}
