import Foundation
import Testing

@testable import KithClient

/// A reader of server-sent events who is behind.
@Suite(.timeLimit(.minutes(1))) struct SlowReaderTests {
  /// Answers each request with a stream of events after `Last-Event-ID`, one for each piece that is read.
  private final class NumberedEvents: Transport, @unchecked Sendable {
    private let last: Int
    private let onClose: @Sendable () -> Void
    private let lock = NSLock()
    private var asked: [String?] = []

    var lastEventIDs: [String?] { lock.withLock { asked } }

    init(until last: Int, onClose: @escaping @Sendable () -> Void) {
      self.last = last
      self.onClose = onClose
    }

    func stream(_ request: HTTPRequest, progress: (@Sendable (Int64) -> Void)?) async throws -> HTTPStream {
      let id = request.headers["Last-Event-ID"]
      lock.withLock { asked.append(id) }
      let since = id.flatMap { Int($0) } ?? 0
      guard since < last else {
        let response = HTTPResponse.refusal(403, "forbidden")
        return HTTPStream(
          head: response.head,
          body: AsyncThrowingStream {
            $0.yield(with: .success(response.body)); $0.finish()
          })
      }
      let body = Body(from: since, to: last, onClose: onClose)
      return HTTPStream(head: .init(status: 200), body: AsyncThrowingStream { body.next() })
    }
  }

  /// `@unchecked Sendable`: it is read by one task.
  private final class Body: @unchecked Sendable {
    private var number: Int
    private let last: Int
    private var isBegun = false
    private let onClose: @Sendable () -> Void

    init(from number: Int, to last: Int, onClose: @escaping @Sendable () -> Void) {
      self.number = number
      self.last = last
      self.onClose = onClose
    }

    deinit { onClose() }

    func next() -> Data? {
      guard isBegun else {
        isBegun = true
        return Data("id: \(number)\n\n".utf8)
      }
      guard number < last else { return nil }
      number += 1
      let data = #"{"topic":"lists:1","seq":\#(number),"id":"id-\#(number)","payload":{}}"#
      return Data("event: task_changed\nid: \(number)\ndata: \(data)\n\n".utf8)
    }
  }

  @Test func missesNothing() async throws {
    let (closed, close) = AsyncStream<Void>.makeStream()
    let transport = NumberedEvents(until: 1500) { close.yield() }
    var retries = RetryPolicy()
    retries.sleep = { _ in }
    let client = KithClient(
      baseURL: .server, tokens: MemoryTokenStore(), retries: retries, transport: transport,
      live: LiveConnections(sockets: nil))
    try await client.auth.sessions.start(TokenPair(accessToken: "a", refreshToken: "r", expiresIn: 3600))
    let updates = client.events.updates(of: ["lists:1"], wakingOn: .never)
    for await _ in closed { break }
    #expect(transport.lastEventIDs == [nil])
    var numbers: [Int] = []
    await #expect(throws: KithFailure.self) {
      for try await (update, _) in updates { if case .event(let event) = update { numbers.append(event.number) } }
    }
    #expect(numbers == Array(1...1500))
    // That the connection is there, and 999 events, were told before.
    #expect(transport.lastEventIDs == [nil, "999", "1500"])
  }
}
