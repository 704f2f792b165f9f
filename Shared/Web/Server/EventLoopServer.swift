import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

/// An HTTP/1.1 server that handles each connection on its own event loop, where nothing may take long.
/// ``BoundaryMiddleware`` moves requests to the global executor, except those that cost less than a switch of threads.
struct EventLoopServer: ServerChildChannel {
  private let http: HTTP1Channel

  static func http1(_ configuration: HTTP1Channel.Configuration) -> HTTPServerBuilder {
    HTTPServerBuilder { EventLoopServer(http: HTTP1Channel(responder: $0, configuration: configuration)) }
  }

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
    http.setup(channel: channel, logger: logger)
  }

  func handle(value: HTTP1Channel.Value, logger: Logger) async {
    await withTaskExecutorPreference(EventLoopExecutor(value.channel.eventLoop)) {
      await http.handle(value: value, logger: logger)
    }
  }
}

/// Runs `work` on the global executor instead of the event loop, if it takes long.
package func offEventLoop<T: Sendable>(if takesLong: Bool, _ work: () async throws -> T) async throws -> T {
  guard takesLong else { return try await work() }
  return try await withTaskExecutorPreference(globalConcurrentExecutor) { try await work() }
}

/// A task executor that runs jobs on an event loop (SE-0417).
private final class EventLoopExecutor: TaskExecutor {
  private let loop: any EventLoop

  init(_ loop: any EventLoop) { self.loop = loop }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    loop.execute { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}
