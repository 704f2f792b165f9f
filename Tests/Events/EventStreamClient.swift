import AsyncHTTPClient
import Foundation
import NIOCore
import Support

/// Reads server-sent events over a real socket.
struct EventStreamClient {
  struct Event: Equatable {
    var name = ""
    var id = ""
    var data = ""
    var isComment = false

    var json: [String: Any] {
      // `try?`: a test that reads a member of no object fails.
      (try? JSONSerialization.jsonObject(with: Data(data.utf8))) as? [String: Any] ?? [:]
    }

    /// The number of each topic in the id.
    var places: [String: Int] {
      Dictionary(id.split(separator: ",").compactMap { Self.place($0) }) { $1 }
    }

    /// The number in the id of a stream of one topic.
    var seq: Int? { places.count == 1 ? places.first?.value : nil }

    /// The last epoch in the id.
    var epoch: Substring? { id.split(separator: ",").last { $0.hasPrefix("epoch=") }?.dropFirst("epoch=".count) }

    private static func place(_ part: Substring) -> (String, Int)? {
      guard let equals = part.lastIndex(of: "="), let number = Int(part[part.index(after: equals)...]) else {
        return nil
      }
      return (String(part[..<equals]), number)
    }

    var number: Int? { (json["payload"] as? [String: Any])?["number"] as? Int }
  }

  let status: Int
  let contentType: String?
  private var chunks: HTTPClientResponse.Body.AsyncIterator
  private var text = ""

  init(_ browser: Browser, _ query: String, token: String?, lastEventID: String? = nil) async throws {
    var request = HTTPClientRequest(url: "\(browser.base)/realtime/v1/events?\(query)")
    if let token { request.headers.add(name: "authorization", value: "Bearer \(token)") }
    if let lastEventID { request.headers.add(name: "last-event-id", value: lastEventID) }
    let response = try await Browser.client.execute(request, timeout: .seconds(60))
    status = Int(response.status.code)
    contentType = response.headers.first(name: "content-type")
    chunks = response.body.makeAsyncIterator()
  }

  /// The next block, comments included; nil at the end of the stream.
  mutating func nextBlock() async throws -> Event? {
    while true {
      if let end = text.range(of: "\n\n") {
        let block = text[..<end.lowerBound]
        text = String(text[end.upperBound...])
        return Self.event(block)
      }
      guard let chunk = try await chunks.next() else { return nil }
      text += String(buffer: chunk)
    }
  }

  /// The next event.
  mutating func next() async throws -> Event? {
    while let event = try await nextBlock() {
      if !event.name.isEmpty { return event }
    }
    return nil
  }

  mutating func next(_ count: Int) async throws -> [Event] {
    var events: [Event] = []
    while events.count < count, let event = try await next() { events.append(event) }
    return events
  }

  private static func event(_ block: Substring) -> Event {
    var event = Event()
    for line in block.split(separator: "\n") {
      let parts = line.split(separator: ": ", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      switch (parts[0], parts.count) {
      case ("event", 2): event.name = parts[1]
      case ("id", 2): event.id = parts[1]
      case ("data", 2): event.data = parts[1]
      default: event.isComment = event.isComment || line.hasPrefix(":")
      }
    }
    return event
  }
}
