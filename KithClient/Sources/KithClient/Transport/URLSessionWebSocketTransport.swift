import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Opens WebSockets with `URLSessionWebSocketTask`. Foundation on Linux has the type, but most of its builds have a
/// libcurl without WebSockets: there every connection throws ``WebSocketsUnavailable``.
public final class URLSessionWebSocketTransport: WebSocketTransport {
  private let session: URLSession

  /// - Parameter configuration: nil: an ephemeral one.
  public init(configuration: URLSessionConfiguration? = nil) {
    let configuration = configuration ?? .ephemeral
    configuration.httpCookieStorage = nil
    session = URLSession(configuration: configuration)
  }

  deinit { session.finishTasksAndInvalidate() }

  public func open(_ url: URL) async throws -> any WebSocketConnection {
    try Task.checkCancellation()
    let task = session.webSocketTask(with: URLRequest(url: url))
    task.resume()
    return URLSessionWebSocket(task: task)
  }
}

private struct URLSessionWebSocket: WebSocketConnection {
  let task: URLSessionWebSocketTask

  func send(_ text: String) async throws {
    do { try await task.send(.string(text)) } catch { throw Self.failure(of: error) }
  }

  func receive() async throws -> String {
    try await withTaskCancellationHandler {
      while true {
        do {
          if case .string(let text) = try await task.receive() { return text }
        } catch { throw Self.failure(of: error) }
      }
    } onCancel: {
      close()
    }
  }

  func close() { task.cancel(with: .goingAway, reason: nil) }

  private static func failure(of error: any Error) -> any Error {
    let error = error as NSError
    guard error.domain == NSURLErrorDomain else { return NoAnswer("\(error.domain) \(error.code)") }
    switch error.code {
    case NSURLErrorCancelled: return CancellationError()
    // Without WebSockets in the system's library; and an answer to the handshake that is not 101.
    case NSURLErrorUnsupportedURL, NSURLErrorBadServerResponse: return WebSocketsUnavailable()
    default: return NoAnswer("\(error.code)")
    }
  }
}
