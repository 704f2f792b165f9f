import Foundation
import Logging
import NIOCore

/// A task executor that runs jobs on an event loop (SE-0417).
final class EventLoopExecutor: TaskExecutor {
  private let loop: any EventLoop
  private let logger: Logger

  init(_ loop: any EventLoop, logger: Logger) {
    self.loop = loop
    self.logger = logger
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    loop.execute { [self] in
      reportingIfLong { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
  }

  /// In debug builds, which are about ten times as slow as release builds, logs a job that computed for so long that the
  /// other connections of the loop had to wait. Its route needs ``offEventLoop(if:_:)``.
  private func reportingIfLong(_ run: () -> Void) {
    #if DEBUG
      let started = Self.threadMilliseconds
      run()
      let milliseconds = Self.threadMilliseconds - started
      guard milliseconds >= Self.longMilliseconds else { return }
      logger.warning("a request computed for long on its event loop", metadata: ["cpu_ms": "\(milliseconds)"])
    #else
      run()
    #endif
  }

  #if DEBUG
    static let longMilliseconds = 100

    /// The processor time of this thread, which does not depend on what else the machine does.
    static var threadMilliseconds: Int {
      var time = timespec()
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }
  #endif
}
