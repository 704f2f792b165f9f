import DequeModule

/// Messages that wait to be passed to other replicas, up to a number and up to so many bytes. The oldest are left out
/// first.
struct RelayQueue<Message: Sendable>: Sendable {
  private struct Entry: Sendable {
    let message: Message
    let bytes: Int
  }

  let countMax: Int
  let bytesMax: Int
  private var entries: Deque<Entry> = []
  private var bytes = 0

  init(countMax: Int, bytesMax: Int) {
    self.countMax = countMax
    self.bytesMax = bytesMax
  }

  /// - Returns: how many were left out.
  mutating func append(_ message: Message, bytes added: Int) -> Int {
    var leftOut = 0
    while let first = entries.first, entries.count >= countMax || bytes + added > bytesMax {
      entries.removeFirst()
      bytes -= first.bytes
      leftOut += 1
    }
    entries.append(Entry(message: message, bytes: added))
    bytes += added
    return leftOut
  }

  /// The next messages, at most `count`; nil when there is none.
  mutating func next(_ count: Int) -> [Message]? {
    guard !entries.isEmpty else { return nil }
    let next = Array(entries.prefix(count))
    entries.removeFirst(next.count)
    bytes -= next.reduce(0) { $0 + $1.bytes }
    return next.map(\.message)
  }
}
