import Foundation
import Wire

/// An event of the log. Its payload and its changes stay the JSON texts in which they were stored: readers pass the
/// payload on unread, and few ask for changes of rows.
struct LoggedEvent: Sendable {
  let id: EventID
  let name: String
  /// A JSON object.
  let payload: String
  /// A ``RowChange``, or several in an array.
  let changes: String?
  let hiddenFrom: Set<UserID>
  let at: Date

  /// The event as the reader sees it. From whom it is hidden sees that its number is taken.
  func seen(by reader: UserID) -> LoggedEvent { hiddenFrom.contains(reader) ? hidden : self }

  /// What those see from whom it is hidden.
  var hidden: LoggedEvent {
    LoggedEvent(id: id, name: Self.hiddenName, payload: "{}", changes: nil, hiddenFrom: [], at: at)
  }

  private static let hiddenName = "hidden"
}

/// An event with its number in one topic.
struct LogEntry: Sendable {
  let seq: Int
  let event: LoggedEvent
}

/// An event with its number in each of its topics, as it was appended.
struct AppendedEvent: Sendable {
  struct Number: Sendable {
    let topic: String
    let seq: Int
  }

  let position: Int
  let numbers: [Number]
  let event: LoggedEvent
  let access: [AccessChange]
}

/// The events of one transaction that were not in the log before.
struct AppendedBatch: Sendable {
  let events: [AppendedEvent]
  /// The end of the log after them; nil when there are none.
  let end: LogStore.End?

  init(_ events: [AppendedEvent] = [], end: LogStore.End? = nil) {
    self.events = events
    self.end = end
  }
}

/// A place in the log of one topic: everything up to `seq` has been read.
struct LogPosition: Sendable, Hashable {
  let seq: Int
  let epoch: String
}

/// What the log has of a topic after a place.
enum LogPage: Sendable {
  /// Without holes; empty at the end of the log.
  case entries([LogEntry], top: Int)
  /// The log does not reach back to that place, or the place is not one of this log, or is from before the reader was
  /// let in. Reading can continue at `top`.
  case gap(LogGap)
}

/// Tells a reader that it has missed events and must read the current state of the topic.
struct LogGap: Sendable, Hashable {
  /// The first number that the log still has, and that the reader may read; after the last one when there is none.
  let oldest: Int
  /// The number of the last event: the next ones come after it.
  let top: Int
  let epoch: String
}
