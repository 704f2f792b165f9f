import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Hands what arrives for the tasks of a session to who waits for it.
///
/// `@unchecked Sendable`: `running` is only used under the lock.
final class RunningExchanges: NSObject, URLSessionDataDelegate, @unchecked Sendable {
  struct Exchange {
    /// nil once the head has arrived.
    var head: CheckedContinuation<HTTPResponseHead, any Error>?
    let chunks: AsyncThrowingStream<Data, any Error>.Continuation
    let progress: (@Sendable (Int64) -> Void)?
  }

  private let lock = NSLock()
  private var running: [Int: Exchange] = [:]

  func add(_ exchange: Exchange, for task: URLSessionTask) {
    lock.withLock { running[task.taskIdentifier] = exchange }
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    let head = lock.withLock { () -> CheckedContinuation<HTTPResponseHead, any Error>? in
      defer { running[dataTask.taskIdentifier]?.head = nil }
      return running[dataTask.taskIdentifier]?.head
    }
    guard let response = response as? HTTPURLResponse else {
      head?.resume(throwing: NoAnswer("the response is not HTTP"))
      return completionHandler(.cancel)
    }
    head?.resume(returning: HTTPResponseHead(response))
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    _ = lock.withLock { running[dataTask.taskIdentifier] }?.chunks.yield(data)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64
  ) {
    lock.withLock { running[task.taskIdentifier] }?.progress?(totalBytesSent)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    guard let exchange = lock.withLock({ running.removeValue(forKey: task.taskIdentifier) }) else { return }
    guard let error else {
      exchange.head?.resume(throwing: NoAnswer("the connection was closed without a response"))
      return exchange.chunks.finish()
    }
    let failure = Self.failure(of: error)
    exchange.head?.resume(throwing: failure)
    exchange.chunks.finish(throwing: failure)
  }

  private static func failure(of error: any Error) -> any Error {
    guard let error = error as? URLError else { return NoAnswer(String(describing: error)) }
    return error.code == .cancelled ? CancellationError() : NoAnswer("\(error.code.rawValue)")
  }
}

extension HTTPResponseHead {
  fileprivate init(_ response: HTTPURLResponse) {
    var headers: [String: String] = [:]
    for (name, value) in response.allHeaderFields { headers["\(name)"] = "\(value)" }
    self.init(status: response.statusCode, headers: headers)
  }
}
