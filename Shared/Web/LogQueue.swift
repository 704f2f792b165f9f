import Foundation

/// Lines on their way to standard output. A thread of its own writes them, so whoever logs never waits for whoever reads;
/// when nobody reads, lines are dropped and counted.
///
/// `@unchecked`: everything that changes is guarded by `condition`.
package final class LogQueue: @unchecked Sendable {
  private let file: FileHandle
  private let bytesMax: Int
  private let condition = NSCondition()
  private var waiting: [UInt8] = []
  private var dropped = 0
  private var isWriting = false

  /// The process's own. What waits when the process exits still goes out, unless nobody reads.
  static let output: LogQueue = {
    atexit { LogQueue.output.flush(within: 2) }
    return LogQueue(to: .standardOutput)
  }()

  package init(to file: FileHandle, bytesMax: Int = 1024 * 1024) {
    self.file = file
    self.bytesMax = bytesMax
    Thread { [self] in write() }.start()
  }

  /// - Parameter gap: the line that says how many are missing before this one.
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

  /// Returns when everything has been written, or after so many seconds.
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
      // `try?`: when nobody reads our output any more there is nowhere left to say so.
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
