import Foundation

@testable import KithClient

/// WebSockets in memory, whose server is a function that is run for each connection.
final class MemorySockets: WebSocketTransport, @unchecked Sendable {
  typealias Server = @Sendable (MemorySocket, _ count: Int) async throws -> Void

  private let server: Server
  private let lock = NSLock()
  private var count = 0

  /// How many connections were asked for.
  var opened: Int { lock.withLock { count } }

  init(_ server: @escaping Server) { self.server = server }

  func open(_ url: URL) async throws -> any WebSocketConnection {
    let count = lock.withLock {
      self.count += 1
      return self.count
    }
    let socket = MemorySocket(url)
    let running = Task {
      do {
        try await server(socket, count)
        socket.drop(NoAnswer("closed"))
      } catch { socket.drop(error) }
    }
    socket.onClose = { running.cancel() }
    return socket
  }
}

/// Both ends of a connection.
///
/// `@unchecked Sendable`: `onClose` is set before the client has the connection.
final class MemorySocket: WebSocketConnection, @unchecked Sendable {
  let url: URL
  fileprivate var onClose: (() -> Void)?
  private let toServer = AsyncStream<String>.makeStream()
  private let toClient = AsyncThrowingStream<String, any Error>.makeStream()

  fileprivate init(_ url: URL) { self.url = url }

  // MARK: The client's end

  func send(_ text: String) async throws { toServer.continuation.yield(text) }

  func receive() async throws -> String {
    for try await text in toClient.stream { return text }
    throw CancellationError()
  }

  func close() {
    onClose?()
    toServer.continuation.finish()
    toClient.continuation.finish(throwing: NoAnswer("closed"))
  }

  // MARK: The server's end

  struct ClientIsGone: Error {}

  fileprivate func drop(_ error: any Error) { toClient.continuation.finish(throwing: error) }

  /// The next message of the client.
  func next() async throws -> PhoenixMessage {
    for await text in toServer.stream {
      if let message = PhoenixMessage(text: text) { return message }
    }
    throw ClientIsGone()
  }

  func push(_ message: PhoenixMessage) throws { toClient.continuation.yield(try message.text()) }

  /// Answers a join.
  func accept(_ join: PhoenixMessage, at number: Int, epoch: String = "e1") throws {
    try push(.reply(to: join, ["postgres_changes": [], "seq": .int(number), "epoch": .string(epoch)]))
  }

  /// Waits until the client is gone.
  func hold() async throws { while true { _ = try await next() } }
}

extension PhoenixMessage {
  static func reply(to message: PhoenixMessage, _ response: JSONValue = [:], isOK: Bool = true) -> PhoenixMessage {
    PhoenixMessage(
      joinRef: message.joinRef, ref: message.ref, topic: message.topic, event: "phx_reply",
      payload: ["status": isOK ? "ok" : "error", "response": response])
  }

  static func event(_ number: Int, in topic: String = "lists:1") -> PhoenixMessage {
    PhoenixMessage(
      topic: topic, event: "broadcast",
      payload: [
        "type": "broadcast", "event": "task_changed", "payload": ["task_id": .int(number)],
        "meta": ["id": .string("id-\(number)"), "seq": .int(number)],
      ])
  }
}
