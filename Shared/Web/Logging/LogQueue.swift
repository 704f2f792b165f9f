import Foundation
import Synchronization

/// A bounded queue of log lines. A thread of its own writes them, many at once, so that logging never waits for a reader
/// or a disk. Lines that do not fit, or that cannot be written, are dropped and counted.
package final class LogQueue: Sendable {
  private struct State {
    var lines: [UInt8] = []
    var droppedCount = 0
    /// Whether everything has been written, and the thread waits for ``linesArrived``.
    var isIdle = false
    var makeDropReport: @Sendable (Int) -> [UInt8] = { _ in [] }
  }

  private let state = Mutex(State())
  private let linesArrived = DispatchSemaphore(value: 0)
  private let file: FileHandle
  private let bytesMax: Int
  /// How many seconds the first line waits for others, which are written with it.
  private static let linger = 0.005

  /// The queue of standard output. It is flushed when the process exits, for at most two seconds.
  package static let output: LogQueue = {
    atexit { LogQueue.output.flush(within: 2) }
    return LogQueue(to: .standardOutput)
  }()

  package init(to file: FileHandle, bytesMax: Int = 1024 * 1024) {
    self.file = file
    self.bytesMax = bytesMax
    Thread { [self] in writeForever() }.start()
  }

  /// How many lines have been dropped since the start.
  package var droppedCount: Int { state.withLock { $0.droppedCount } }

  /// Sets the line that reports how many lines were dropped since the last report.
  package func reportDrops(as makeLine: @escaping @Sendable (Int) -> [UInt8]) {
    state.withLock { $0.makeDropReport = makeLine }
  }

  /// Adds a line, which ends in a newline, or drops it when the queue is full. Does not wait for the file.
  package func add(_ line: [UInt8]) {
    let wakesThread = state.withLock { state in
      guard state.lines.count + line.count <= bytesMax else {
        state.droppedCount += 1
        return false
      }
      state.lines += line
      defer { state.isIdle = false }
      return state.isIdle
    }
    if wakesThread { linesArrived.signal() }
  }

  /// Returns when all lines have been written or dropped, or after `seconds`.
  package func flush(within seconds: Double) {
    let end = ContinuousClock.now + .seconds(seconds)
    while !state.withLock({ $0.isIdle }), ContinuousClock.now < end { Thread.sleep(forTimeInterval: 0.001) }
  }

  private func writeForever() {
    var writer = LineWriter(file)
    var reportedCount = 0
    while true {
      if becomesIdle() { linesArrived.wait() }
      Thread.sleep(forTimeInterval: Self.linger)
      let batch = take()
      let lostCount = writer.write(batch.lines)
      guard lostCount == 0 else {
        state.withLock { $0.droppedCount += lostCount }
        continue
      }
      let unreportedCount = batch.droppedCount - reportedCount
      if unreportedCount > 0, writer.write(batch.makeDropReport(unreportedCount)) == 0 {
        reportedCount = batch.droppedCount
      }
    }
  }

  private func becomesIdle() -> Bool {
    state.withLock { state in
      state.isIdle = state.lines.isEmpty
      return state.isIdle
    }
  }

  /// The state, whose lines are removed from the queue.
  private func take() -> State {
    state.withLock { state in
      defer { state.lines = [] }
      return state
    }
  }
}
