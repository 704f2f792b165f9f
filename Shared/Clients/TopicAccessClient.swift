import Foundation
import Synchronization
import Web
import Wire

/// Asks the services that own topics who may read them. Who may is cached for a few seconds, so that the channels of a
/// socket which reconnects do not each cost a call.
package final class TopicAccessClient: Sendable {
  private struct Key: Hashable {
    let user: UserID
    let topic: String
  }

  private struct State {
    var entries: [Key: (access: TopicAccess, until: ContinuousClock.Instant)] = [:]
    /// Grows when rights change: answers to calls that were made before are not cached.
    var changes = 0
  }

  private let clients: [ServiceName: ServiceClient]
  private let state = Mutex(State())
  private let lifetime: Duration
  private static let entriesMax = 20_000

  package init(_ services: [ServiceName], in dependencies: Dependencies, lifetime: Duration = .seconds(5)) {
    clients = Dictionary(services.map { ($0, ServiceClient($0, in: dependencies)) }) { $1 }
    self.lifetime = lifetime
  }

  /// The user's rights in a topic; none in one that does not exist.
  ///
  /// - Throws: ``Wire/Failure/unavailable`` when the service does not answer.
  package func access(of user: UserID, to topic: String, at service: ServiceName) async throws -> TopicAccess {
    let key = Key(user: user, topic: topic)
    let (cached, changes) = state.withLock { state in
      (state.entries[key].flatMap { $0.until > .now ? $0.access : nil }, state.changes)
    }
    if let cached { return cached }
    guard let client = clients[service] else { throw Failure.unavailable }
    let access: TopicAccess =
      try await Self.topicNotFound.orNil {
        try await client.call(
          .GET, "/internal/topics/access", query: ["topic": topic, "user_id": user.description])
      } ?? .none
    state.withLock { state in
      // Who has just been let in is not refused because of the time before: the event that says so may come later.
      guard state.changes == changes, access.read else { return }
      if state.entries.count >= Self.entriesMax { state.entries = [:] }
      state.entries[key] = (access, .now + lifetime)
    }
    return access
  }

  /// All topics of a service that the user may read.
  package func readableTopics(of user: UserID, at service: ServiceName) async throws -> [String] {
    guard let client = clients[service] else { throw Failure.unavailable }
    let readable: ReadableTopics = try await client.call(
      .GET, "/internal/topics", query: ["user_id": user.description])
    return readable.topics
  }

  /// All who may read a topic, in the order of their ids.
  package func readers(of topic: String, at service: ServiceName) async throws -> [UserID] {
    var page = try await someReaders(of: topic, at: service)
    var readers = page
    while page.count == TopicReaders.usersMax, let last = page.last {
      page = try await someReaders(of: topic, after: last, at: service)
      // A service of the version before has one page only, and answers with it again.
      guard !page.contains(last) else { break }
      readers += page
    }
    return readers
  }

  /// At most ``TopicReaders/usersMax`` of those who may read a topic, in the order of their ids.
  package func someReaders(
    of topic: String, after user: UserID? = nil, at service: ServiceName
  ) async throws -> [UserID] {
    guard let client = clients[service] else { throw Failure.unavailable }
    var query = ["topic": topic]
    query["after"] = user?.description
    let readers: TopicReaders = try await client.call(.GET, "/internal/topics/readers", query: query)
    return readers.users
  }

  /// The rights in a topic have changed.
  package func endCache(of change: AccessChange) {
    state.withLock { state in
      state.changes += 1
      state.entries[Key(user: change.user, topic: change.topic)] = nil
      if change.isEnd { state.entries = state.entries.filter { $0.key.topic != change.topic } }
    }
  }

  private static let topicNotFound = NotFoundCode(code: "topic_not_found")
}
