import Foundation
import Hummingbird
import Support
import Synchronization
import Web
import Wire

/// A service on loopback that owns topics, and says who may read them.
final class TopicOwner: Sendable {
  private struct State {
    var readers: [String: Set<UserID>] = [:]
    var isDown = false
    var accessCalls = 0
    var questions = 0
    var hasPages = true
    var delay = Duration.zero
  }

  private let state = Mutex(State())
  private let listening = ListeningPort()

  var url: String { get async throws { "http://127.0.0.1:\(try await listening.number)" } }
  var accessCalls: Int { state.withLock { $0.accessCalls } }
  /// How often it was asked about one topic, also what it has not answered yet.
  var questions: Int { state.withLock { $0.questions } }

  func allow(_ user: UserID, _ topic: String) {
    state.withLock { _ = $0.readers[topic, default: []].insert(user) }
  }

  func forbid(_ user: UserID, _ topic: String) { state.withLock { _ = $0.readers[topic]?.remove(user) } }

  func setDown(_ isDown: Bool) { state.withLock { $0.isDown = isDown } }

  /// From now on it answers with the first page of readers only, as an earlier version.
  func setOnePage() { state.withLock { $0.hasPages = false } }

  /// How long questions about one topic wait that are asked from now on.
  func setDelay(_ delay: Duration) { state.withLock { $0.delay = delay } }

  func server() -> some ApplicationProtocol {
    let router = Router()
    router.get("/internal/topics/access") { [self] request, _ -> Response in
      let topic = request.uri.queryParameters["topic"].map { String($0) } ?? ""
      let user = request.uri.queryParameters["user_id"].flatMap { UserID(String($0)) }
      let delay = state.withLock { state in
        state.questions += 1
        return state.delay
      }
      try await Task.sleep(for: delay)
      return try state.withLock { state in
        guard !state.isDown else { throw HTTPError(.serviceUnavailable) }
        state.accessCalls += 1
        let mayRead = user.map { state.readers[topic]?.contains($0) ?? false } ?? false
        return .json(TopicAccess(read: mayRead, write: mayRead))
      }
    }
    router.get("/internal/topics") { [self] request, _ -> Response in
      let user = request.uri.queryParameters["user_id"].flatMap { UserID(String($0)) }
      return try state.withLock { state in
        guard !state.isDown else { throw HTTPError(.serviceUnavailable) }
        let topics = state.readers.filter { topic in user.map { topic.value.contains($0) } ?? false }
        return .json(ReadableTopics(topics: topics.keys.sorted()))
      }
    }
    router.get("/internal/topics/readers") { [self] request, _ -> Response in
      let topic = request.uri.queryParameters["topic"].map { String($0) } ?? ""
      let last = request.uri.queryParameters["after"].map { String($0) } ?? ""
      return try state.withLock { state in
        guard !state.isDown else { throw HTTPError(.serviceUnavailable) }
        let users = state.readers[topic, default: []].sorted { $0.description < $1.description }
          .drop { state.hasPages && $0.description <= last }
        return .json(TopicReaders(users: Array(users.prefix(TopicReaders.usersMax))))
      }
    }
    return loopbackServer(router, listening)
  }
}
