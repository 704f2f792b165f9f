import Hummingbird
import NIOCore

/// The task that responds to the requests of a connection, one after the other.
extension HTTPConnection {
  enum Exchange: Sendable {
    case request(Request, any Channel)
    /// What was received is no request.
    case refusal(Response)
  }

  /// Responds to the requests until the connection is closed. Runs on the event loop.
  ///
  /// - Returns: the response to a request that has exceeded its deadline, which has cancelled this task: another one has
  ///   to write it, as a body may be made while it is written. nil when the connection is closed.
  func serve() async -> Response? {
    while let exchange = await nextExchange() {
      switch exchange {
      case .request(let request, let channel):
        let response = await service.respond(request, channel)
        if Task.isCancelled { return response }
        await write(response)
      case .refusal(let response): await write(response)
      }
    }
    return nil
  }

  /// Writes the response that ``serve()`` has returned, and returns when the connection is closed.
  func finish(with response: Response) async {
    mustClose = true
    await write(response)
    while await nextExchange() != nil {}
  }

  private func nextExchange() async -> Exchange? {
    if let next {
      self.next = nil
      return next
    }
    return await withCheckedContinuation { continuation in
      if context == nil { continuation.resume(returning: nil) } else { waiting = continuation }
    }
  }

  /// Has the task respond.
  func begin(_ exchange: Exchange) {
    beginResponding()
    guard let waiting else { return next = exchange }
    self.waiting = nil
    waiting.resume(returning: exchange)
  }

  func beginResponding() {
    phase = .responding
    hasHadRequests = true
    setDeadline(nil)
  }
}
