import Foundation

/// Opens WebSockets. Apps and tests can replace it.
public protocol WebSocketTransport: Sendable {
  /// - Returns: a connection, which may still be opening.
  /// - Throws: ``WebSocketsUnavailable``, ``NoAnswer``, or `CancellationError`.
  func open(_ url: URL) async throws -> any WebSocketConnection
}

/// An open WebSocket. One task sends, another one receives.
public protocol WebSocketConnection: Sendable {
  /// - Throws: as ``receive()``.
  func send(_ text: String) async throws
  /// The next text message. Binary messages are left out.
  ///
  /// - Throws: ``NoAnswer`` when the connection was closed or lost, ``WebSocketsUnavailable`` when it was never opened
  ///   and never will be, or `CancellationError`.
  func receive() async throws -> String
  /// Ends the connection, and with it a ``receive()`` that waits. Safe to repeat.
  func close()
}

/// There are no WebSockets here: the system's library has none, or something on the way does not let them through.
public struct WebSocketsUnavailable: Error, Sendable, Equatable {
  /// For a ``WebSocketTransport`` of the app's own.
  public init() {}
}
