import Foundation

/// Reads a stream of server-sent events, as the HTML standard defines it.
struct ServerSentEventParser {
  struct Event: Sendable, Equatable {
    var name = ""
    var data = ""
    /// The last id that the stream has named, also by an earlier event.
    var id = ""
  }

  /// Of an event. The server's are smaller.
  private static let bytesMax = 4 * 1024 * 1024
  private var buffer: [UInt8] = []
  private var event = Event()
  private var hasData = false
  private var hasID = false
  private var lastID = ""
  private var previousWasCarriageReturn = false

  /// - Parameter bytes: any piece of the stream.
  /// - Returns: the events that are complete with it. One without data only names an id.
  /// - Throws: ``NoAnswer`` for an event that is too large.
  mutating func add(_ bytes: Data) throws(NoAnswer) -> [Event] {
    var events: [Event] = []
    for byte in bytes {
      defer { previousWasCarriageReturn = byte == 13 }
      if byte == 10, previousWasCarriageReturn { continue }
      guard byte == 10 || byte == 13 else {
        guard buffer.count + event.data.utf8.count < Self.bytesMax else { throw NoAnswer("an event is too large") }
        buffer.append(byte)
        continue
      }
      let line = String(decoding: buffer, as: UTF8.self)
      buffer.removeAll(keepingCapacity: true)
      if let event = add(line: line) { events.append(event) }
    }
    return events
  }

  private mutating func add(line: String) -> Event? {
    if line.isEmpty { return finished() }
    let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let value = parts.count == 2 ? String(parts[1].first == " " ? parts[1].dropFirst() : parts[1]) : ""
    switch parts[0] {
    case "event": event.name = value
    case "id":
      lastID = value
      hasID = true
    case "data":
      event.data += hasData ? "\n" + value : value
      hasData = true
    default: break
    }
    return nil
  }

  private mutating func finished() -> Event? {
    defer {
      event = Event()
      hasData = false
      hasID = false
    }
    guard hasData || hasID else { return nil }
    var finished = event
    finished.id = lastID
    return finished
  }
}

/// The events of a response, until it ends or is cancelled.
struct ServerSentEvents: Sendable {
  private static let unreadMax = 64
  let all: AsyncThrowingStream<ServerSentEventParser.Event, any Error>
  private let reading: Task<Void, Never>

  init(of body: AsyncThrowingStream<Data, any Error>) {
    let events = BoundedBuffer<ServerSentEventParser.Event>(countMax: Self.unreadMax)
    reading = Task {
      var parser = ServerSentEventParser()
      do {
        for try await chunk in body {
          for event in try parser.add(chunk) { try await events.send(event) }
        }
        events.finish()
      } catch { events.finish(throwing: error) }
    }
    all = events.stream { [reading] in reading.cancel() }
  }

  /// Ends the connection.
  func cancel() { reading.cancel() }
}

extension HTTPStream {
  var events: ServerSentEvents { ServerSentEvents(of: body) }
}
