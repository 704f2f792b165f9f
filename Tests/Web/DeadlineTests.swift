import Support
import Testing
import Wire

@testable import Web

@Suite struct DeadlineTests {
  /// Runs `body` with a deadline in a task of its own, as that is what is cancelled.
  private func withDeadline<T: Sendable>(
    _ deadlines: RequestDeadlines, _ timeout: Duration? = nil, _ body: @escaping @Sendable () async throws -> T
  ) async throws -> T {
    let task = Task { try await deadlines.withDeadline(timeout, body) }
    return try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }

  @Test func whatTakesTooLongIsCancelledAndTheRestIsNot() async throws {
    let deadlines = RequestDeadlines(limit: .milliseconds(100), interval: .milliseconds(10))
    let quick = try await withDeadline(deadlines) { 7 }
    #expect(quick == 7)
    let started = ContinuousClock.now
    await #expect(throws: DeadlineExceeded.self) {
      try await withDeadline(deadlines) { try await Task.sleep(for: .seconds(300)) }
    }
    #expect(ContinuousClock.now - started < .seconds(60))
    // An error of the operation itself is not replaced.
    let lenient = RequestDeadlines(limit: .seconds(60))
    await #expect(throws: CancellationError.self) { try await withDeadline(lenient) { throw CancellationError() } }
  }

  @Test func aCallerWhoWaitsForLessGetsLessAndNobodyGetsMore() async throws {
    let deadlines = RequestDeadlines(limit: .seconds(300), interval: .milliseconds(10))
    let started = ContinuousClock.now
    await #expect(throws: DeadlineExceeded.self) {
      try await withDeadline(deadlines, .milliseconds(50)) { try await Task.sleep(for: .seconds(600)) }
    }
    #expect(ContinuousClock.now - started < .seconds(60))
    let left = try await withDeadline(deadlines, .seconds(3600)) { Deadline.remaining(of: .seconds(3600)) }
    #expect(left <= .seconds(300))
  }

  @Test(.timeLimit(.minutes(5))) func noTimerRunsWhileNoRequestDoesAndTheNextRequestHasADeadlineAgain() async throws {
    let deadlines = RequestDeadlines(limit: .seconds(60), interval: .milliseconds(10))
    #expect(!deadlines.isSweeping)
    for _ in 0..<3 {
      // With a deadline that does not pass before this is checked.
      try await withDeadline(deadlines) { #expect(deadlines.isSweeping) }
      while deadlines.isSweeping { try await Task.sleep(for: .milliseconds(10)) }
      await #expect(throws: DeadlineExceeded.self) {
        try await withDeadline(deadlines, .milliseconds(50)) { try await Task.sleep(for: .seconds(30)) }
      }
      while deadlines.isSweeping { try await Task.sleep(for: .milliseconds(10)) }
    }
  }

  /// One that ends earlier than those that run is not forgotten until their time.
  @Test(.timeLimit(.minutes(5))) func aRequestThatHasLessTimeThanThoseBeforeItIsCancelledInItsTime() async throws {
    let deadlines = RequestDeadlines(limit: .seconds(3600), interval: .milliseconds(10))
    let long = Task { try await withDeadline(deadlines) { try await Task.sleep(for: .seconds(3000)) } }
    // Sweeps have begun to wait for the end of that one.
    try await Task.sleep(for: .milliseconds(100))
    let started = ContinuousClock.now
    for milliseconds in [50, 20, 5] {
      await #expect(throws: DeadlineExceeded.self) {
        try await withDeadline(deadlines, .milliseconds(milliseconds)) { try await Task.sleep(for: .seconds(3000)) }
      }
    }
    #expect(ContinuousClock.now - started < .seconds(60))
    #expect(deadlines.isSweeping)
    long.cancel()
    await #expect(throws: CancellationError.self) { try await long.value }
  }

  /// A long poll does not wake the process all the time.
  @Test func whileOneRequestWaitsForLongThereAreFewSweeps() async throws {
    let deadlines = RequestDeadlines(limit: .seconds(3600), interval: .milliseconds(10))
    let long = Task { try await withDeadline(deadlines) { try await Task.sleep(for: .seconds(3000)) } }
    try await eventually("the wait for its end") { deadlines.sweepsIn.map { $0 > .seconds(3000) } ?? false }
    long.cancel()
    await #expect(throws: CancellationError.self) { try await long.value }
  }

  @Test func whoeverCancelsTheRequestCancelsItsWork() async throws {
    let deadlines = RequestDeadlines(limit: .seconds(60))
    let request = Task { try await withDeadline(deadlines) { try await Task.sleep(for: .seconds(30)) } }
    try await Task.sleep(for: .milliseconds(20))
    request.cancel()
    let result = await request.result
    #expect(throws: CancellationError.self) { try result.get() }
  }

  /// The task of the connection is cancelled with the request: there is no other request in it.
  @Test func whoIsToldThatTimeIsOverCallsAgainOnAnotherConnection() async throws {
    try await withEchoServer { server in
      let others = try await server.connect()
      try await others.send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
      for _ in 0..<3 {
        let connection = try await server.connect()
        try await connection.send(
          "GET /echo HTTP/1.1\r\nHost: a\r\n\r\nGET /endless HTTP/1.1\r\nHost: a\r\n\r\n"
            + "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n")
        let text = try await connection.untilClosed()
        #expect(text.components(separatedBy: "HTTP/1.1 ").count == 3 && text.hasPrefix("HTTP/1.1 200 "))
        #expect(text.contains("GET /echo 0HTTP/1.1 504 ") && text.contains("connection: close"), "\(text)")
      }
      server.goOn.send()
      try await eventually("the other request") { try await others.received().hasSuffix("GET /held 0") }
      others.close()
    }
  }

  @Test func whatSucceedsAfterItsDeadlineIsSentWhole() async throws {
    try await withEchoServer { server in
      let connection = try await server.connect()
      try await connection.send("GET /late HTTP/1.1\r\nHost: a\r\n\r\n")
      let text = try await connection.untilClosed()
      #expect(text.hasPrefix("HTTP/1.1 200 ") && text.contains("connection: close"))
      #expect(text.utf8.count { $0 == UInt8(ascii: "x") } >= EchoServer.bigBytes)
    }
  }

  @Test func aBodyThatIsMadeAfterTheDeadlineIsSentWhole() async throws {
    try await withEchoServer { server in
      let connection = try await server.connect()
      try await connection.send("GET /late-body HTTP/1.1\r\nHost: a\r\n\r\n")
      let text = try await connection.untilClosed()
      #expect(text.contains("connection: close") && text.hasSuffix("3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n"), "\(text)")
    }
  }
}
