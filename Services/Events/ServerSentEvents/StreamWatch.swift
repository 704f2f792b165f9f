import DequeModule
import Foundation
import Synchronization
import Web
import Wire

/// What one event stream has to write next. Events wait here only up to a bound: a stream that falls behind reads the
/// log again.
final class StreamWatch: Sendable {
  struct Work: Sendable {
    var entries: [(topic: String, entry: LogEntry)] = []
    /// Events were left out: they are in the log.
    var isBehind = false
    /// The client has closed the connection, or only its sending side: a write will tell.
    var mayBeUnread = false
    var endMessage: String?
    /// The stream ends because a topic does: all may read that event.
    var isEndOfTopic = false
    var isStopped = false
  }

  private struct State {
    var entries: Deque<(topic: String, entry: LogEntry)> = []
    var isBehind = false
    var mayBeUnread = false
    var endMessage: String?
    /// The stream ends because a topic does: all may read that event.
    var isEndOfTopic = false
    var isStopped = false
  }

  let user: UserID
  let topics: [String]
  let signal = ChangeSignal()
  private let state = Mutex(State())
  private static let entriesMax = 256

  init(user: UserID, topics: [String]) {
    self.user = user
    self.topics = topics
  }

  func add(_ entry: LogEntry, of topic: String) {
    state.withLock { state in
      guard !state.isBehind, state.endMessage == nil else { return }
      if state.entries.count < Self.entriesMax { return state.entries.append((topic, entry)) }
      state.entries = []
      state.isBehind = true
    }
    signal.send()
  }

  /// Ends the stream, whose user may no longer read it.
  ///
  /// - Parameter isEndOfTopic: as nobody may.
  func end(_ message: String, isEndOfTopic: Bool) {
    state.withLock { state in
      guard state.endMessage == nil else { return }
      (state.endMessage, state.isEndOfTopic) = (message, isEndOfTopic)
    }
    signal.send()
  }

  /// Whether the user may read no more. The end of a topic may still be read.
  var hasEnded: Bool { state.withLock { ($0.endMessage != nil && !$0.isEndOfTopic) || $0.isStopped } }

  /// Ends the stream, because the process stops.
  func stop() {
    state.withLock { $0.isStopped = true }
    signal.send()
  }

  /// Makes the stream read the log, or begin again where its numbers mean nothing any more. The same is true of those of
  /// the events that wait.
  func readAgain() {
    state.withLock { ($0.entries, $0.isBehind) = ([], true) }
    signal.send()
  }

  /// Makes the stream write, which fails when nobody reads it any more.
  func clientEnded() {
    state.withLock { $0.mayBeUnread = true }
    signal.send()
  }

  func take() -> Work {
    state.withLock { state in
      defer { (state.entries, state.isBehind, state.mayBeUnread) = ([], false, false) }
      return Work(
        entries: Array(state.entries), isBehind: state.isBehind, mayBeUnread: state.mayBeUnread,
        endMessage: state.endMessage, isEndOfTopic: state.isEndOfTopic, isStopped: state.isStopped)
    }
  }
}

/// The open event streams of this process, by topic.
final class StreamWatches: LogObserver {
  private let watches = Mutex<[String: [ObjectIdentifier: StreamWatch]]>([:])
  private let live: LiveTopics

  init(live: LiveTopics) { self.live = live }

  func add(_ watch: StreamWatch) {
    for topic in watch.topics { live.open(topic, by: watch.user) }
    watches.withLock { watches in
      for topic in watch.topics { watches[topic, default: [:]][ObjectIdentifier(watch)] = watch }
    }
  }

  func remove(_ watch: StreamWatch) {
    for topic in watch.topics { live.close(topic, by: watch.user) }
    watches.withLock { watches in
      for topic in watch.topics {
        watches[topic]?[ObjectIdentifier(watch)] = nil
        if watches[topic]?.isEmpty == true { watches[topic] = nil }
      }
    }
  }

  func appended(_ events: [AppendedEvent]) {
    for event in events { appended(event) }
  }

  private func appended(_ event: AppendedEvent) {
    // First, as who may no longer read a topic does not see the event that says so.
    end(event.access.filter { !$0.isEnd })
    for number in event.numbers {
      for watch in all(of: number.topic) { watch.add(LogEntry(seq: number.seq, event: event.event), of: number.topic) }
    }
    end(event.access.filter(\.isEnd))
  }

  private func end(_ changes: [AccessChange]) {
    for change in changes where !change.mayRead {
      for watch in all(of: change.topic) where change.concerns(watch.user) {
        watch.end(noPermission(change.topic), isEndOfTopic: change.isEnd)
      }
    }
  }

  func logWasReplaced() {
    let all = watches.withLock { $0.values.flatMap(\.values) }
    for watch in all { watch.readAgain() }
  }

  private func all(of topic: String) -> [StreamWatch] { watches.withLock { $0[topic].map { Array($0.values) } ?? [] } }
}

/// The text with which the apps' client libraries know that a right was withdrawn.
func noPermission(_ topic: String) -> String {
  "You no longer have permission to read from this Channel topic: \(topic)"
}
