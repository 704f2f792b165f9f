import Database
import Foundation
import Hummingbird
import Synchronization
import Web
import Wire

/// A stand-in for the events service: it stores each event once, in the order of arrival, and fails on demand.
package final class EventsReceiver: Sendable {
  package enum Behavior: Sendable {
    case normal
    case unavailable
    /// Stores a part of the batch, or all of it, and fails: in about half of the deliveries.
    case unreliable
    /// Refuses batches with an event of this name.
    case refusing(String)
    /// Waits until the behavior is another one, then stores.
    case hanging
  }

  private struct State {
    var behavior = Behavior.normal
    var events: [FeedEvent] = []
    var ids: Set<EventID> = []
    var requestCount = 0
    var serviceKeys: Set<String> = []
    var delivered: [FeedEvent] = []

    /// Returns how many were new.
    @discardableResult
    mutating func store(_ batch: ArraySlice<FeedEvent>) -> Int {
      let new = batch.filter { ids.insert($0.id).inserted }
      events += new
      return new.count
    }
  }

  private let state = Mutex(State())
  private let listening = ListeningPort()
  private let port: Int

  package init(port: Int = 0) { self.port = port }

  package var behavior: Behavior {
    get { state.withLock { $0.behavior } }
    set { state.withLock { $0.behavior = newValue } }
  }

  package var events: [FeedEvent] { state.withLock { $0.events } }
  /// All events of all deliveries, whether they were stored or not.
  package var deliveredEvents: [FeedEvent] { state.withLock { $0.delivered } }
  package var requestCount: Int { state.withLock { $0.requestCount } }
  package var serviceKeys: Set<String> { state.withLock { $0.serviceKeys } }

  package var url: String {
    get async throws { "http://127.0.0.1:\(try await listening.number)" }
  }

  /// The events of a topic.
  package func events(on topic: String) -> [FeedEvent] { events.filter { $0.topics.contains(topic) } }

  package func server() -> some ApplicationProtocol {
    let router = Router()
    router.post("/internal/events") { [self] request, _ -> Response in
      let body = Data(buffer: try await request.body.collect(upTo: 4 << 20))
      let batch = try JSON.decode(FeedBatch.self, from: body)
      state.withLock {
        $0.requestCount += 1
        $0.serviceKeys.insert(request.headers[.serviceKey] ?? "")
        $0.delivered += batch.events
      }
      while case .hanging = behavior { try await Task.sleep(for: .milliseconds(10)) }
      return try reply(to: batch)
    }
    return loopbackServer(router, listening, port: port)
  }

  private func reply(to batch: FeedBatch) throws -> Response {
    guard batch.events.count <= FeedBatch.eventsMax else { return Response(status: .unprocessableContent) }
    return try state.withLock { state in
      switch state.behavior {
      case .unavailable: return Response(status: .serviceUnavailable)
      case .unreliable where Bool.random():
        state.store(batch.events.prefix(Int.random(in: 0...batch.events.count)))
        return Response(status: .internalServerError)
      case .refusing(let name) where batch.events.contains { $0.name == name }:
        return try .refusal()
      case .normal, .unreliable, .refusing, .hanging: break
      }
      return .exactJSON(FeedBatchAccepted(accepted: state.store(batch.events[...])))
    }
  }
}

extension TestStack {
  /// Delivers the events of all services to a stand-in for the events service, from now on. The stack's settings must
  /// have ``eventsURL``.
  package func deliverEvents(to receiver: EventsReceiver) async throws {
    dependencies.serviceAddresses.set(.events, to: try await receiver.url)
  }

  /// Any address, so that the services record events.
  package static let eventsURL = ["EVENTS_URL": "http://127.0.0.1:1"]
}

/// Runs all services while `body` runs, and records the events that they deliver.
package func withEvents(
  of engine: Engine, _ overrides: [String: String] = [:], pollInterval: Duration = .seconds(1),
  _ body: (TestStack, EventsReceiver) async throws -> Void
) async throws {
  let receiver = EventsReceiver()
  try await running([receiver.server()]) {
    try await withStack(engine, TestStack.eventsURL.merging(overrides) { $1 }, pollInterval: pollInterval) { stack in
      try await stack.deliverEvents(to: receiver)
      try await body(stack, receiver)
    }
  }
}

extension Response {
  fileprivate static func refusal() throws -> Response {
    let problem = Problem(
      Failure.invalid(.init("events", "are refused")), as: APIDialect(path: "/internal/events"), requestID: "1")
    return Response(
      status: .unprocessableContent, headers: [.contentType: Problem.contentType],
      body: .init(byteBuffer: .init(data: try JSON.encode(problem))))
  }
}
