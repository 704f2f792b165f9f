import Foundation

/// A bounded queue of log lines. A thread of its own writes them, so that logging never blocks; when the queue is full,
/// lines are dropped and counted.
///
/// `@unchecked Sendable`: all mutable state is guarded by `condition`.
package final class LogQueue: @unchecked Sendable {
  private let file: FileHandle
  private let bytesMax: Int
  private let condition = NSCondition()
  private var waiting: [UInt8] = []
  private var dropped = 0
  private var isWriting = false

  /// The queue of standard output. It is flushed when the process exits, for at most two seconds.
  static let output: LogQueue = {
    atexit { LogQueue.output.flush(within: 2) }
    return LogQueue(to: .standardOutput)
  }()

  package init(to file: FileHandle, bytesMax: Int = 1024 * 1024) {
    self.file = file
    self.bytesMax = bytesMax
    Thread { [self] in write() }.start()
  }

  /// Adds a line without blocking, or drops it when the queue is full.
  ///
  /// - Parameter gap: makes the line that reports how many lines were dropped before this one.
  package func add(_ line: String, after gap: (Int) -> String) {
    condition.lock()
    defer { condition.unlock() }
    guard waiting.count + line.utf8.count <= bytesMax else {
      dropped += 1
      return
    }
    if dropped > 0 { waiting += gap(dropped).utf8 }
    dropped = 0
    waiting += line.utf8
    condition.broadcast()
  }

  /// Returns when all lines have been written, or after `seconds`.
  package func flush(within seconds: TimeInterval) {
    let end = Date(timeIntervalSinceNow: seconds)
    condition.lock()
    defer { condition.unlock() }
    while isWriting || !waiting.isEmpty { guard condition.wait(until: end) else { return } }
  }

  private func write() {
    var lines: [UInt8] = []
    while true {
      take(&lines)
      // `try?`: when standard output is closed there is nowhere to report that.
      try? file.write(contentsOf: lines)
    }
  }

  private func take(_ lines: inout [UInt8]) {
    lines.removeAll(keepingCapacity: true)
    condition.lock()
    defer { condition.unlock() }
    isWriting = false
    condition.broadcast()
    while waiting.isEmpty { condition.wait() }
    swap(&lines, &waiting)
    isWriting = true
  }
}
