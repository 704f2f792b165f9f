/// Reads Server-Sent Events as providers send them: all three line ends, comments, and at the end perhaps JSON without a
/// field, which is how an error comes after the first event.
struct EventStreamReader {
  enum Event: Hashable, Sendable {
    case data(String)
    /// JSON outside of the format of the stream.
    case bare(String)
  }

  private var line: [UInt8] = []
  private var endedWithCR = false
  private var data: [String] = []
  private var bare: [String] = []

  mutating func read(_ bytes: some Sequence<UInt8>) -> [Event] {
    var events: [Event] = []
    for byte in bytes {
      defer { endedWithCR = byte == UInt8(ascii: "\r") }
      switch byte {
      case UInt8(ascii: "\n") where endedWithCR: break
      case UInt8(ascii: "\n"), UInt8(ascii: "\r"): endLine(&events)
      default: line.append(byte)
      }
    }
    return events
  }

  /// The events that the end of the stream completes.
  mutating func end() -> [Event] {
    var events: [Event] = []
    if !line.isEmpty { endLine(&events) }
    endEvent(&events)
    if !bare.isEmpty { events.append(.bare(bare.joined(separator: "\n"))) }
    bare = []
    return events
  }

  private mutating func endLine(_ events: inout [Event]) {
    let text = String(decoding: line, as: UTF8.self)
    line.removeAll(keepingCapacity: true)
    if !bare.isEmpty || text.first == "{" || text.first == "[" {
      bare.append(text)
    } else if text.isEmpty {
      endEvent(&events)
    } else if text.hasPrefix("data:") {
      let value = text.dropFirst(5)
      data.append(String(value.first == " " ? value.dropFirst() : value))
    }
  }

  private mutating func endEvent(_ events: inout [Event]) {
    guard !data.isEmpty else { return }
    events.append(.data(data.joined(separator: "\n")))
    data = []
  }
}
