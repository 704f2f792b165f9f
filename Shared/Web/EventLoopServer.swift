import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

/// HTTP/1.1, with each connection served on its own event loop, where nothing may take long. ``Edge`` answers requests
/// elsewhere, but for those that change threads for longer than they work.
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

/// Does what takes long in the shared pool, for a request that is otherwise quick.
package func elsewhere<T: Sendable>(if takesLong: Bool, _ work: () async throws -> T) async throws -> T {
  guard takesLong else { return try await work() }
  return try await withTaskExecutorPreference(globalConcurrentExecutor) { try await work() }
}

/// Runs tasks on an event loop (SE-0417).
private final class EventLoopExecutor: TaskExecutor {
  private let loop: any EventLoop

  init(_ loop: any EventLoop) { self.loop = loop }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    loop.execute { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}
