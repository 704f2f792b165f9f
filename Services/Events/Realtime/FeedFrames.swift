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
  /// Read when the first binding asks for it.
  private let decodedChange = Mutex<RowChange?>(nil)
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

  /// A change of a row comes in one form only: as the client has asked for it, else as a broadcast.
  func frame(_ version: PhoenixVersion, on name: String, seq: Int, _ bindings: [ChangeBinding]) -> ByteBuffer {
    change(version, on: name, seq: seq, bindings) ?? broadcast(version, on: name, seq: seq)
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

  /// The change of a row, for those of the bindings that match it.
  ///
  /// - Parameter seq: nil on a channel of several topics.
  /// - Returns: nil when none matches.
  func change(_ version: PhoenixVersion, on name: String, seq: Int?, _ bindings: [ChangeBinding]) -> ByteBuffer? {
    guard !bindings.isEmpty, let change else { return nil }
    let matching = bindings.filter { $0.matches(change) }
    guard !matching.isEmpty else { return nil }
    return frame(Key(version: version, name: name, bindings: matching.map(\.id))) {
      let ids = matching.map { String($0.id) }.joined(separator: ",")
      let seq = seq.map { #""seq":\#($0),"# } ?? ""
      let data = change.data(at: event.at, selected: Self.columns(of: matching))
      return PhoenixFrame.message(
        version, topic: name, event: "postgres_changes", payload: #"{"ids":[\#(ids)],\#(seq)"data":\#(data)}"#)
    }
  }

  private var change: RowChange? {
    guard let text = event.change else { return nil }
    return decodedChange.withLock { decoded in
      if let decoded { return decoded }
      // `try?`: the log has what this service has encoded. Anything else has no change that a binding could match.
      decoded = try? JSON.decode(RowChange.self, from: Data(text.utf8))
      return decoded
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
