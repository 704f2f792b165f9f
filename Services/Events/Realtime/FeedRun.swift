import NIOCore
import Synchronization

/// Events that follow each other in one topic only, change nobody's rights and are hidden from nobody. Readers who have
/// all before the first get their frames as one buffer, which is put together once for all who have joined alike.
final class FeedRun: Sendable {
  private struct Key: Hashable {
    let version: PhoenixVersion
    let name: String
    /// The channel's own, as the client has sent them.
    let bindings: [String]
  }

  let events: [(event: AppendedEvent, frames: FeedFrames)]
  private let frames = Mutex<[Key: ByteBuffer]>([:])

  /// What fits into the buffer of a client that reads, so that nobody is taken for slow by it.
  private static let payloadBytesMax = 16 * 1024

  private init(_ events: [(event: AppendedEvent, frames: FeedFrames)]) { self.events = events }

  /// The events in their order.
  static func runs(of events: [AppendedEvent]) -> [FeedRun] {
    var runs: [FeedRun] = []
    var current: [(event: AppendedEvent, frames: FeedFrames)] = []
    var bytes = 0
    for event in events {
      if let last = current.last?.event, !event.continues(last) || bytes + event.bytes > payloadBytesMax {
        runs.append(FeedRun(current))
        (current, bytes) = ([], 0)
      }
      current.append((event, FeedFrames(event.event)))
      bytes += event.bytes
    }
    if !current.isEmpty { runs.append(FeedRun(current)) }
    return runs
  }

  /// The topic and the numbers of several events. nil for a single one, which may have any number of topics.
  var shared: (topic: String, numbers: ClosedRange<Int>)? {
    guard events.count > 1, let first = events.first?.event.numbers.first, let last = events.last?.event.numbers.first
    else { return nil }
    return (first.topic, first.seq...last.seq)
  }

  /// The frames of all events on a channel of the topic, which has the numbers from `first` on.
  func joined(_ version: PhoenixVersion, on channel: JoinedChannel, from first: Int) -> ByteBuffer {
    let key = Key(version: version, name: channel.name, bindings: channel.bindings.map(\.echo))
    return frames.withLock { known in
      if let buffer = known[key] { return buffer }
      var buffer = ByteBuffer()
      for (index, (_, frames)) in events.enumerated() {
        buffer.writeImmutableBuffer(frames.frame(version, on: channel.name, seq: first + index, channel.bindings))
      }
      known[key] = buffer
      return buffer
    }
  }
}

extension AppendedEvent {
  /// Without the frame around it, which is short.
  fileprivate var bytes: Int { max(event.payload.utf8.count, event.changes?.utf8.count ?? 0) }

  fileprivate func continues(_ last: AppendedEvent) -> Bool {
    guard access.isEmpty, last.access.isEmpty, event.hiddenFrom.isEmpty, last.event.hiddenFrom.isEmpty,
      numbers.count == 1, last.numbers.count == 1
    else { return false }
    return numbers[0].topic == last.numbers[0].topic && numbers[0].seq == last.numbers[0].seq + 1
  }
}
