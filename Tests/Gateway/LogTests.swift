import Foundation
import Support
import Testing

/// The log never blocks the process.
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
      // A process that ends waits only two seconds for its log to be read, and a task may have to wait for a thread.
      let (lines, received) = AsyncStream.makeStream(of: Data?.self)
      Thread {
        let isBlocking = fcntl(descriptor, F_SETFL, 0) == 0
        // `try?`: an unreadable log has no lines, and the test fails.
        received.yield(isBlocking ? (try? log.readToEnd()) : nil)
        received.finish()
      }.start()
      #expect(await child.end() == 0)
      let all = await lines.first { _ in true }
      let text = String(decoding: try #require(all ?? nil), as: UTF8.self)
      #expect(text.split(separator: "\n").count { $0.contains(#""status":404"#) } == count)
      #expect(text.hasSuffix("}\n"))
    }
  }
  /// The reason is written to the same pipe or disk.
  @Test func aStartThatFailsEndsWithOneThoughNobodyReadsItsReason() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let gateway = try executable("kith-gateway")
      func start(_ command: [String], output: String) throws -> ChildProcess {
        try ChildProcess(command, environment: ["LOG_FORMAT": "unknown"], output: output)
      }
      let reasons = try start([gateway], output: testDatabase.folder.appendingPathComponent("reasons").path)
      #expect(await reasons.end() == 1)
      #expect(reasons.printed().hasPrefix("kith-gateway: LOG_FORMAT"))
      let full = try start([gateway], output: "/dev/full")
      #expect(await full.end() == 1)
      let path = testDatabase.folder.appendingPathComponent("log").path
      #expect(mkfifo(path, 0o600) == 0)
      let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
      let unread = try start(["sh", "-c", #"sleep 0.5; exec "$0""#, gateway], output: path)
      close(reader)
      #expect(await unread.end() == 1)
    }
  }
}
