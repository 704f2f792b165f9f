import Foundation
import Synchronization

/// Reads to the end of a file on its own thread.
final class BackgroundReader: Sendable {
  private let all = Mutex("")
  private let done = DispatchSemaphore(value: 0)

  init(_ file: FileHandle) {
    Thread { [self] in
      // `try?`: an unreadable file gives no text, and the test fails.
      let data = (try? file.readToEnd()) ?? Data()
      all.withLock { $0 = String(decoding: data, as: UTF8.self) }
      done.signal()
    }.start()
  }

  var text: String {
    done.wait()
    return all.withLock { $0 }
  }
}
