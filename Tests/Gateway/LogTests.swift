import Foundation
import Support
import Synchronization
import Testing
import Web

/// The log never blocks the process, and never loses lines without saying how many.
@Suite struct LogTests {
  @Test func aReaderThatHasStalledHoldsUpNobodyAndMissesNothing() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let path = testDatabase.folder.appendingPathComponent("log").path
      #expect(mkfifo(path, 0o600) == 0)
      let descriptor = open(path, O_RDONLY | O_NONBLOCK)
      let log = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      let environment = try KithProcess.environment(testDatabase).merging([
        "SERVICE_KEY": TestStack.keys["gateway"] ?? "", "RATE_LIMIT": "1000000", "LOG_FORMAT": "json",
      ]) { $1 }
      let child = try ChildProcess([executable("kith-gateway")], environment: environment, output: path)
      let browser = Browser("http://127.0.0.1:\(environment["PORT"] ?? "")")
      try await eventually("the start") {
        do { return try await browser.get("/health/live").status == 200 } catch { return false }
      }
      // Several times the capacity of a pipe.
      let count = 2000
      for _ in 0..<count { #expect(try await browser.get("/nowhere").status == 404) }
      child.signal(SIGTERM)
      let lines = Task.detached {
        guard fcntl(descriptor, F_SETFL, 0) == 0 else { throw Unexpected(reply: "still not blocking") }
        return try log.readToEnd() ?? Data()
      }
      #expect(await child.end() == 0)
      let text = String(decoding: try await lines.value, as: UTF8.self)
      #expect(text.split(separator: "\n").count { $0.contains(#""status":404"#) } == count)
      #expect(text.hasSuffix("}\n"))
    }
  }

  @Test func whatDoesNotFitIsCounted() throws {
    let pipe = Foundation.Pipe()
    let queue = LogQueue(to: pipe.fileHandleForWriting, bytesMax: 100_000)
    let line = String(repeating: "a", count: 99) + "\n"
    for _ in 0..<10_000 { queue.add(line) { "\($0)\n" } }
    let reader = BackgroundReader(pipe.fileHandleForReading)
    queue.flush(within: 10)
    queue.add("end\n") { "\($0)\n" }
    queue.flush(within: 10)
    try pipe.fileHandleForWriting.close()
    let lines = reader.text.split(separator: "\n")
    let whole = lines.count { $0.count == 99 }
    let missing: Int = lines.compactMap { Int($0) }.reduce(0, +)
    #expect(missing > 5000 && whole > 500 && whole + missing == 10_000)
    #expect(lines.last == "end")
  }
}

/// Reads to the end of a file on its own thread.
private final class BackgroundReader: Sendable {
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
