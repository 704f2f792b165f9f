import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Sends requests with a `URLSession` of its own, which keeps no cookies and no cache on disk.
public final class URLSessionTransport: Transport {
  /// Of an answer, that its reader has not read yet.
  private static let unreadBytesMax = 32 * 1024 * 1024
  let session: URLSession
  let exchanges = RunningExchanges()

  /// - Parameter configuration: nil: an ephemeral one.
  public init(configuration: URLSessionConfiguration? = nil) {
    let configuration = configuration ?? .ephemeral
    configuration.urlCache = nil
    configuration.httpCookieStorage = nil
    configuration.httpShouldSetCookies = false
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
  }

  // The session retains its delegate until it is invalidated.
  deinit { session.finishTasksAndInvalidate() }

  public func stream(_ request: HTTPRequest, progress: (@Sendable (Int64) -> Void)?) async throws -> HTTPStream {
    try Task.checkCancellation()
    #if !canImport(FoundationNetworking)
      if let running = await running(request) { return try await follow(running, progress) }
    #endif
    return try await follow(task(for: request), progress)
  }

  /// Starts a task, or hands out what is still to come of one that is running.
  private func follow(_ task: URLSessionTask, _ progress: (@Sendable (Int64) -> Void)?) async throws -> HTTPStream {
    let chunks = BoundedBuffer<Data>(costMax: Self.unreadBytesMax, cost: \.count)
    let body = chunks.stream { task.cancel() }
    let head = try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { head in
        exchanges.add(.init(head: head, chunks: chunks, progress: progress), for: task)
        if task.state == .completed { exchanges.abandon(task) } else { task.resume() }
      }
    } onCancel: {
      task.cancel()
    }
    return HTTPStream(head: head, body: body)
  }

  private func task(for request: HTTPRequest) -> URLSessionTask {
    var urlRequest = URLRequest(url: request.url, timeoutInterval: request.timeoutSeconds)
    urlRequest.httpMethod = request.method
    for (name, value) in request.headers { urlRequest.setValue(value, forHTTPHeaderField: name) }
    #if canImport(FoundationNetworking)
      // Foundation on Linux cannot send a body again on a new connection when a kept one turns out to be closed: the
      // request would stand still until its timeout. So no connection is kept.
      urlRequest.setValue("close", forHTTPHeaderField: "Connection")
    #endif
    switch request.body {
    case .file(let file): return session.uploadTask(with: urlRequest, fromFile: file)
    case .data(let data): return session.uploadTask(with: urlRequest, from: data)
    case nil: return session.dataTask(with: urlRequest)
    }
  }
}
