import Clients
import Database
import Foundation
import NIOCore
import NIOPosix
import Support
import Testing
import Web
import Wire

@testable import Events

/// What waits in memory for a client that does not read, measured at the socket of the service.
@Suite struct ReplayBoundTests {
  private static let topicCount = 64
  private static let eventsPerTopic = 10
  private static let bufferedMax = 1024 * 1024

  /// A hub of its own, whose sockets are known here. Nothing follows the log: it is read when the hub is told so.
  private struct Sockets: Sendable {
    let hub: RealtimeHub
    let upgrade: SocketUpgrade

    init(_ fixture: EventsFixture, _ database: any Database) throws {
      let (ended, clock) = (fixture.ended, fixture.clock)
      let dependencies = Dependencies(
        fixture.dependencies.settings, logger: quiet, endedSessions: ended, now: { clock.now })
      let (metrics, now) = (EventMetrics(in: dependencies), dependencies.now)
      hub = RealtimeHub(metrics: metrics, live: LiveTopics(), now: now)
      let relay = ConversationRelay(database: database, logger: quiet, now: now)
      let replicas = ReplicaStore(database: database)
      let conversations = Conversations(
        presences: PresenceStore(database: database), replicas: replicas,
        lease: ReplicaLease(of: relay.replica, store: replicas, now: now), relay: relay, hub: hub, now: now)
      let services = SocketServices(
        store: LogStore(database: database),
        rights: TopicRights(client: TopicAccessClient([.lists], in: dependencies), owners: [.lists]),
        verifier: CredentialVerifier(verification: try TokenVerification(in: dependencies), now: now),
        limits: try ConnectionLimits(dependencies.settings, replicated: nil), metrics: metrics, hub: hub,
        conversations: conversations, settings: try SocketSettings(dependencies.settings))
      upgrade = SocketUpgrade(services: services, keys: try ServiceKeys(dependencies.settings))
    }

    /// - Parameter accepted: gets the connection of the client.
    func listen(_ accepted: Kept<any Channel>) async throws -> any Channel {
      try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            accepted.set(channel)
            try upgrade.install(on: channel)
          }
        }
        .bind(host: "127.0.0.1", port: 0).get()
    }
  }

  @Test func aClientThatReadsNothingIsSentNoMoreThanABound() async throws {
    try await withEvents(.sqlite) { fixture in
      let database = try await fixture.testDatabase.open("events", [])
      let (sockets, accepted) = (try Sockets(fixture, database), Kept<any Channel>())
      let listener = try await sockets.listen(accepted)
      let alice = try fixture.person()
      let topics = (1...Self.topicCount).map { "lists:\($0)" }
      for topic in topics { fixture.owner.allow(alice.id, topic) }
      let socket = try await SocketClient.connect(port: try #require(listener.localAddress?.port))
      for topic in topics { #expect(try await socket.join("realtime:\(topic)", alice.token).status == "ok") }
      try await socket.channel.setOption(.autoRead, value: false).get()

      try await deliver(to: topics, fixture)
      // All channels read the log at once.
      sockets.hub.logWasReplaced()
      let connection = try #require(accepted.value)
      try await eventually("more than the client takes") { !connection.isWritable }
      // As long as reads of all channels may take.
      try await Task.sleep(for: .seconds(1))
      let buffered = try await connection.getOption(.bufferedWritableBytes).get()
      #expect(buffered > 0 && buffered < Self.bufferedMax, "\(buffered)")

      // The premise: there was more, and all of it comes.
      try await socket.channel.setOption(.autoRead, value: true).get()
      var numbers: [String: [Int]] = [:]
      for event in try await socket.nextEvents(Self.topicCount * Self.eventsPerTopic) {
        numbers[event.topic, default: []].append(event.number ?? 0)
      }
      #expect(numbers.count == topics.count)
      #expect(numbers.values.allSatisfy { $0 == Array(1...Self.eventsPerTopic) })
      try await socket.close()
      try await listener.close()
      await database.close()
    }
  }

  /// 300 KB for each topic.
  private func deliver(to topics: [String], _ fixture: EventsFixture) async throws {
    let filler = JSONValue.string(String(repeating: "x", count: 30_000))
    for start in stride(from: 0, to: topics.count, by: FeedEvent.topicsMax) {
      try await fixture.deliver(
        (1...Self.eventsPerTopic).map { number in
          FeedEvent(
            id: .new(at: fixture.clock.now), topics: Array(topics[start...].prefix(FeedEvent.topicsMax)),
            name: "task_changed", payload: .object(["number": .integer(number), "filler": filler]),
            at: fixture.clock.now)
        })
    }
  }
}
