import Foundation
import NIOCore
import Synchronization
import Wire

/// The frames of one event, each encoded once, and shared by all sockets that receive it.
final class FeedFrames: Sendable {
  private struct Key: Hashable {
    let version: PhoenixVersion
    /// The channel as its client has named it.
    let name: String
    /// Of the bindings that match; empty for a broadcast.
    let bindings: [Int]
  }

  let event: LoggedEvent
  private let frames = Mutex<[Key: ByteBuffer]>([:])
  /// Read when the first binding asks for them.
  private let decodedChanges = Mutex<[RowChange]?>(nil)
  /// For those from whom the event is hidden.
  private let hidden: FeedFrames?

  init(_ event: LoggedEvent) {
    self.event = event
    hidden = event.hiddenFrom.isEmpty ? nil : FeedFrames(event.hidden)
  }

  func seen(by reader: UserID) -> FeedFrames {
    guard let hidden, event.hiddenFrom.contains(reader) else { return self }
    return hidden
  }

  /// Changes of rows come in one form only: as the client has asked for them, else as a broadcast.
  func frame(_ version: PhoenixVersion, on name: String, seq: Int, _ bindings: [ChangeBinding]) -> ByteBuffer {
    changes(version, on: name, seq: seq, bindings) ?? broadcast(version, on: name, seq: seq)
  }

  /// The event as a broadcast on the channel of a topic.
  func broadcast(_ version: PhoenixVersion, on name: String, seq: Int) -> ByteBuffer {
    frame(Key(version: version, name: name, bindings: [])) {
      let meta = #"{"id":"\#(event.id)","seq":\#(seq)}"#
      return PhoenixFrame.message(
        version, topic: name, event: "broadcast",
        payload: PhoenixPayload.broadcast(event.name, event.payload, meta: meta))
    }
  }

  /// The changes of rows, for those of the bindings that match them: a message for each.
  ///
  /// - Parameter seq: nil on a channel of several topics. The last message has it: whoever has seen the number has seen
  ///   all of the event.
  /// - Returns: nil when none matches.
  func changes(_ version: PhoenixVersion, on name: String, seq: Int?, _ bindings: [ChangeBinding]) -> ByteBuffer? {
    guard !bindings.isEmpty else { return nil }
    let matches = changes.map { change in (change, bindings.filter { $0.matches(change) }) }
      .filter { !$0.1.isEmpty }
    guard !matches.isEmpty else { return nil }
    let matching = Set(matches.flatMap { $0.1.map(\.id) })
    let key = Key(version: version, name: name, bindings: bindings.map(\.id).filter(matching.contains))
    return frame(key) {
      var frames = ByteBuffer()
      for (index, (change, bindings)) in matches.enumerated() {
        let seq = index == matches.count - 1 ? seq : nil
        frames.writeImmutableBuffer(frame(version, on: name, seq: seq, of: change, bindings))
      }
      return frames
    }
  }

  private func frame(
    _ version: PhoenixVersion, on name: String, seq: Int?, of change: RowChange, _ bindings: [ChangeBinding]
  ) -> ByteBuffer {
    let ids = bindings.map { String($0.id) }.joined(separator: ",")
    let seq = seq.map { #""seq":\#($0),"# } ?? ""
    let data = change.data(at: event.at, selected: Self.columns(of: bindings))
    return PhoenixFrame.message(
      version, topic: name, event: "postgres_changes", payload: #"{"ids":[\#(ids)],\#(seq)"data":\#(data)}"#)
  }

  private var changes: [RowChange] {
    guard let text = event.changes else { return [] }
    return decodedChanges.withLock { decoded in
      if let decoded { return decoded }
      // `try?`: the log has what this service was given as changes. Anything else has none that a binding could match.
      let changes = (try? RowChange.all(in: text)) ?? []
      decoded = changes
      return changes
    }
  }

  /// All columns as soon as one binding asks for all.
  private static func columns(of bindings: [ChangeBinding]) -> Set<String>? {
    bindings.reduce(Set<String>()) { columns, binding in
      columns.flatMap { columns in binding.columns.map(columns.union) }
    }
  }

  private func frame(_ key: Key, _ make: () -> ByteBuffer) -> ByteBuffer {
    frames.withLock { frames in
      if let frame = frames[key] { return frame }
      let frame = make()
      frames[key] = frame
      return frame
    }
  }
}
