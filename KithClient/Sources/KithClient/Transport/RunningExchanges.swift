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
    let chunks: BoundedBuffer<Data>
    let progress: (@Sendable (Int64) -> Void)?
  }

  private let lock = NSLock()
  private var running: [Int: Exchange] = [:]
  private var onEventsFinished: (@Sendable () -> Void)?

  func add(_ exchange: Exchange, for task: URLSessionTask) {
    lock.withLock { running[task.taskIdentifier] = exchange }
  }

  /// Ends an exchange whose task may have completed before it was added: then nobody else would.
  func abandon(_ task: URLSessionTask) {
    guard let exchange = lock.withLock({ running.removeValue(forKey: task.taskIdentifier) }) else { return }
    exchange.head?.resume(throwing: NoAnswer("the task had completed"))
    exchange.chunks.finish()
  }

  /// - Parameter action: is called once, when everything of a background session was handed out.
  func whenEventsAreFinished(_ action: @escaping @Sendable () -> Void) { lock.withLock { onEventsFinished = action } }

  #if !canImport(FoundationNetworking)
    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) { eventsFinished() }
  #endif

  private func eventsFinished() {
    let action = lock.withLock { () -> (@Sendable () -> Void)? in
      defer { onEventsFinished = nil }
      return onEventsFinished
    }
    action?()
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    completionHandler(passOnHead(of: dataTask, response) ? .allow : .cancel)
  }

  /// Background sessions do not call the method above for uploads: the head is then that of the task.
  ///
  /// - Returns: whether the response is one of HTTP.
  @discardableResult
  private func passOnHead(of task: URLSessionTask, _ response: URLResponse?) -> Bool {
    let head = lock.withLock { () -> CheckedContinuation<HTTPResponseHead, any Error>? in
      defer { running[task.taskIdentifier]?.head = nil }
      return running[task.taskIdentifier]?.head
    }
    guard let response = response as? HTTPURLResponse else {
      head?.resume(throwing: NoAnswer("the response is not HTTP"))
      return false
    }
    head?.resume(returning: HTTPResponseHead(response))
    return true
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    if let response = dataTask.response { passOnHead(of: dataTask, response) }
    guard let chunks = lock.withLock({ running[dataTask.taskIdentifier] })?.chunks, !chunks.offer(data) else { return }
    chunks.finish(throwing: NoAnswer("the reader of the answer is behind"))
    dataTask.cancel()
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
    if error == nil, let response = task.response { passOnHead(of: task, response) }
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
