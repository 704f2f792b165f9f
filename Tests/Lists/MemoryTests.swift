import Database
import Foundation
import NIOCore
import NIOPosix
import Support
import Synchronization
import Testing
import Wire

@testable import Lists

/// The memory of a process while many clients read the largest possible list.
@Suite(.serialized) struct MemoryTests {
  private static let readers = 100
  private static let bytesMax = 150 * 1024 * 1024

  @Test(arguments: engines) func aHundredReadersOfTheLargestListTakeLittleMemory(engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let kith = try await KithProcess.start(in: testDatabase, ["RATE_LIMIT_USER": "1000000"])
      let made = try await kith.gateway.with(["X-Admin-Key": TestStack.adminKey])
        .post("/api/v1/auth/dev/token", ["email": "alice@example.com"])
      let alice = try await SignedInUser(made, through: kith.gateway)
      let list = try await alice.browser.makeList()
      let database = try await testDatabase.open("lists", listsMigrations)
      try await fillToTheEnd(list, of: alice.id, database)
      await database.close()
      let port = try #require(kith.environment["LISTS_PORT"].flatMap { Int($0) })
      let path = "/api/v1/lists/\(list)/tasks"
      let whole = try await Browser("http://127.0.0.1:\(port)").bearing(alice.access).get(path)
      #expect(whole.objects("tasks").count == List.tasksMax && whole.body.count > 20_000_000, "the premise")
      let (tasksPath, todayPath) = ("/api/v1/tasks?per_page=50", "/api/v1/today")
      let page = try await Browser("http://127.0.0.1:\(port)").bearing(alice.access).get(tasksPath)
      #expect(page.objects("tasks").count == 50 && page.body.count > 1_500_000, "the premise")
      let today = try await Browser("http://127.0.0.1:\(port)").bearing(alice.access).get(todayPath)
      #expect(today.bool("has_more_overdue") == true && today.body.count > 500_000, "the premise")
      let before = kith.child.residentBytes
      let most = Mutex(before)
      let watching = Task {
        while !Task.isCancelled {
          let now = kith.child.residentBytes
          most.withLock { $0 = max($0, now) }
          try await Task.sleep(for: .milliseconds(20))
        }
      }
      defer { watching.cancel() }

      // Each client reads some chunks and stops in the middle of the response; a few of them then read to the end.
      let slow = try await slowReaders(of: path, atLeast: 300_000, port, alice)
      #expect(slow.count == Self.readers && slow.allSatisfy { $0.count < whole.body.count / 2 }, "the premise")
      try await withThrowingTaskGroup(of: Void.self) { group in
        for reader in slow.prefix(3) { group.addTask { try await reader.readToEnd(at: whole.body.count) } }
        try await group.waitForAll()
      }
      for reader in slow { reader.close() }

      // The same with a page over all lists. The response for a day is built in memory, with a limit, so it is read by
      // a few clients at a time.
      let others = try await slowReaders(of: tasksPath, atLeast: 100_000, port, alice)
      try await others.first?.readToEnd(at: page.body.count)
      for _ in 0..<(Self.readers / 10) {
        try await withThrowingTaskGroup(of: Void.self) { group in
          for _ in 0..<10 {
            group.addTask {
              let reader = try await answeredReader(of: todayPath, port, alice)
              defer { reader.close() }
              try await reader.readToEnd(at: today.body.count)
            }
          }
          try await group.waitForAll()
        }
      }
      for reader in others { reader.close() }
      let grown = most.withLock { $0 } - before
      #expect(grown < Self.bytesMax, "it has grown by \(grown / 1024 / 1024) MB")
      #expect(try await alice.browser.get("/api/v1/lists").status == 200)
      _ = await kith.stop()
    }
  }

  /// Clients that ask at the same time, have read a part of their responses, and wait.
  private func slowReaders(of path: String, atLeast bytes: Int, _ port: Int, _ user: SignedInUser) async throws
    -> [SlowReader]
  {
    try await atOnce(Self.readers) { _ in
      let reader = try await answeredReader(of: path, port, user)
      try await reader.read(atLeast: bytes)
      return reader
    }
  }

  /// A client that has read the beginning of its response.
  private func answeredReader(of path: String, _ port: Int, _ user: SignedInUser) async throws -> SlowReader {
    // A busy machine does not begin all responses within their deadline; an app asks again then, and so do these.
    for _ in 0..<20 {
      let reader = try await SlowReader(port: port)
      try await reader.sendRequest(path, bearer: user.access)
      try await reader.read(atLeast: SlowReader.statusLine.utf8.count)
      if try reader.isAnswered() { return reader }
      reader.close()
      try await Task.sleep(for: .seconds(1))
    }
    throw Unexpected(reply: "the response did not begin in twenty attempts")
  }
}

extension ChildProcess {
  /// The resident set size of the process, in bytes.
  fileprivate var residentBytes: Int {
    // `try?`: a process that has ended has none.
    let text = (try? String(contentsOfFile: "/proc/\(id)/statm", encoding: .utf8)) ?? ""
    let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
  }
}

/// A client that reads only on demand.
private final class SlowReader: Sendable {
  private let channel: any Channel
  private let received: ByteCounter

  init(port: Int) async throws {
    let received = ByteCounter()
    self.received = received
    channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelOption(.socketOption(.so_rcvbuf), value: 16 * 1024)
      .channelOption(.autoRead, value: false)
      .channelInitializer { $0.pipeline.addHandler(received) }
      .connect(host: "127.0.0.1", port: port).get()
  }

  static let statusLine = "HTTP/1.1 200"

  var count: Int { received.count.withLock { $0 } }

  /// Whether the response is a success; false for a refusal that asks for another attempt.
  ///
  /// - Throws: for any other response.
  func isAnswered() throws -> Bool {
    let status = received.head.withLock { $0 }
    guard status != Self.statusLine else { return true }
    guard ["HTTP/1.1 503", "HTTP/1.1 504"].contains(status) else { throw Unexpected(reply: status) }
    return false
  }

  func sendRequest(_ path: String, bearer: String) async throws {
    let head = "GET \(path) HTTP/1.1\r\nHost: lists\r\nAuthorization: Bearer \(bearer)\r\n\r\n"
    try await channel.writeAndFlush(ByteBuffer(string: head))
  }

  /// - Throws: when the server closes the connection before.
  func read(atLeast bytes: Int) async throws {
    while count < bytes {
      let seen = count
      channel.read()
      // Allows for a busy machine.
      try await eventually("the next bytes after \(seen)") { count > seen || !channel.isActive }
      guard count > seen else { throw Unexpected(reply: "broken off after \(seen) bytes") }
    }
  }

  /// Reads without pauses.
  ///
  /// - Throws: when the server closes the connection before.
  func readToEnd(at bytes: Int) async throws {
    try await channel.setOption(.autoRead, value: true).get()
    channel.read()
    while count < bytes {
      let seen = count
      try await eventually("the next bytes after \(seen)") { count > seen || !channel.isActive }
      guard count > seen || channel.isActive else { throw Unexpected(reply: "broken off after \(seen) bytes") }
    }
  }

  func close() { channel.close(promise: nil) }
}

private final class ByteCounter: ChannelInboundHandler, Sendable {
  typealias InboundIn = ByteBuffer
  let count = Mutex(0)
  /// The first bytes, which have the status.
  let head = Mutex("")

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let buffer = unwrapInboundIn(data)
    head.withLock { head in
      let missing = SlowReader.statusLine.utf8.count - head.utf8.count
      if missing > 0 { head += String(decoding: buffer.readableBytesView.prefix(missing), as: UTF8.self) }
    }
    count.withLock { $0 += buffer.readableBytes }
  }
}
