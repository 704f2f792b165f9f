import Foundation
import Support
import Testing

@testable import Web

/// The queue of the log makes nobody wait, and loses no line without counting it.
@Suite struct LogQueueTests {
  private static func queue(to file: FileHandle, bytesMax: Int = 1024 * 1024) -> LogQueue {
    let queue = LogQueue(to: file, bytesMax: bytesMax)
    queue.reportDrops { Array("\($0)\n".utf8) }
    return queue
  }

  /// What a pipe holds, or the first part of it.
  private static func contents(of descriptor: Int32, bytesMax: Int = 1000) -> String {
    var bytes = [UInt8](repeating: 0, count: bytesMax)
    let count = read(descriptor, &bytes, bytesMax)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  }

  private static func isFull(_ path: String) -> Bool {
    let descriptor = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
    defer { close(descriptor) }
    var polled = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return poll(&polled, 1, 0) == 0
  }

  @Test func whatDoesNotFitIsCounted() throws {
    let pipe = Foundation.Pipe()
    let queue = Self.queue(to: pipe.fileHandleForWriting, bytesMax: 100_000)
    let line = Array(String(repeating: "a", count: 99).utf8) + [UInt8(ascii: "\n")]
    for _ in 0..<10_000 { queue.add(line) }
    let reader = BackgroundReader(pipe.fileHandleForReading)
    queue.flush(within: 60)
    queue.add(Array("end\n".utf8))
    queue.flush(within: 60)
    try pipe.fileHandleForWriting.close()
    let lines = reader.text.split(separator: "\n")
    let whole = lines.count { $0.count == 99 }
    let missing = lines.compactMap { Int($0) }.reduce(0, +)
    #expect(missing > 5000 && whole > 500 && whole + missing == 10_000)
    #expect(queue.droppedCount == missing)
    #expect(lines.last == "end")
  }

  @Test func whatTheDiskHasNoRoomForIsCounted() throws {
    let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
    let queue = Self.queue(to: full)
    for round in 1...3 {
      for _ in 0..<10 { queue.add(Array("a line\n".utf8)) }
      queue.flush(within: 60)
      #expect(queue.droppedCount == round * 10)
    }
  }

  @Test func aReaderThatComesBackLearnsHowManyLinesItMissed() async throws {
    // The programs ignore it as well.
    signal(SIGPIPE, SIG_IGN)
    try await withTestDatabase(.sqlite) { testDatabase in
      let path = testDatabase.folder.appendingPathComponent("log").path
      #expect(mkfifo(path, 0o600) == 0)
      let first = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
      let queue = Self.queue(to: try #require(FileHandle(forWritingAtPath: path)))
      // More than a pipe holds, in lines of which none ends at the end of one of its pages.
      for _ in 0..<2000 { queue.add(Array("\(String(repeating: "a", count: 99))\n".utf8)) }
      // Only then is a line cut off.
      try await eventually("a full pipe") { Self.isFull(path) }
      #expect(Self.contents(of: first, bytesMax: 1) == "a")
      close(first)
      queue.flush(within: 60)
      let missing = queue.droppedCount
      #expect((1..<2000).contains(missing))
      queue.add(Array("lost\n".utf8))
      queue.flush(within: 60)
      #expect(queue.droppedCount == missing + 1)
      let second = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
      defer { close(second) }
      // What the first reader has left in the pipe.
      let left = Self.contents(of: second, bytesMax: 100_000)
      queue.add(Array("read\n".utf8))
      queue.flush(within: 60)
      // The first newline ends the line that was cut off, as one is unless the pipe had room for just that many lines.
      let end = left.hasSuffix("\n") ? "" : "\n"
      #expect(Self.contents(of: second) == "\(end)read\n\(missing + 1)\n")
      queue.add(Array("more\n".utf8))
      queue.flush(within: 60)
      #expect(Self.contents(of: second) == "more\n")
    }
  }

  @Test func linesOfManyThreadsStayWholeAndInOrder() async throws {
    let pipe = Foundation.Pipe()
    let queue = Self.queue(to: pipe.fileHandleForWriting)
    let reader = BackgroundReader(pipe.fileHandleForReading)
    await withTaskGroup(of: Void.self) { group in
      for writer in 0..<50 {
        group.addTask { for number in 0..<100 { queue.add(Array("\(writer) \(number)\n".utf8)) } }
      }
    }
    queue.flush(within: 60)
    try pipe.fileHandleForWriting.close()
    let lines = reader.text.split(separator: "\n")
    #expect(lines.count == 5000)
    for writer in 0..<50 {
      #expect(lines.filter { $0.hasPrefix("\(writer) ") } == (0..<100).map { "\(writer) \($0)" })
    }
  }

  /// A thread that falls asleep while a line arrives would leave it there.
  @Test func noLineIsLeftWhenTheThreadFallsAsleep() throws {
    let pipe = Foundation.Pipe()
    let queue = Self.queue(to: pipe.fileHandleForWriting)
    for number in 0..<200 {
      queue.add(Array("\(number)\n".utf8))
      queue.flush(within: 60)
      #expect(Self.contents(of: pipe.fileHandleForReading.fileDescriptor) == "\(number)\n")
    }
  }
}
