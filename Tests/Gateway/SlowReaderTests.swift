import Foundation
import NIOCore
import Support
import Testing
import Web

@testable import Gateway

/// Clients that read their responses late or never.
@Suite struct SlowReaderTests {
  private static let request = "GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n"

  @Test func answersThatNobodyTakesDoNotPileUp() async throws {
    try await withGateway(timeouts: Timeouts(write: .seconds(1))) { gateway in
      let greedy = try await RawConnection(port: gateway.port)
      let isOver = Flag()
      // More than the kernel buffers: the gateway has to read it all, or close the connection.
      let sending = Task {
        defer { isOver.raise() }
        try await greedy.send(String(repeating: Self.request, count: 400_000))
      }
      while !isOver.isRaised {
        let buffered = await gateway.bufferedBytes
        #expect(buffered < TestGateway.bufferedBytesMax)
        guard buffered < TestGateway.bufferedBytesMax else { break }
        try await Task.sleep(for: .milliseconds(5))
      }
      await #expect(throws: (any Error).self) { try await sending.value }
      #expect(try await gateway.browser.get("/echo?n=1").status == 200)
    }
  }

  @Test func answersThatAreTakenLateAreAllThere() async throws {
    try await withGateway { gateway in
      let late = try await RawConnection(port: gateway.port, receiveBytes: 64 * 1024)
      let count = 20_000
      let last = "GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
      let sending = Task { try await late.send(String(repeating: Self.request, count: count - 1) + last) }
      try await Task.sleep(for: .seconds(1))
      // The premise: the gateway has stopped in the middle.
      let answered = try await gateway.browser.get("/metrics").text
      #expect(!answered.contains("{route=\"\",method=\"\",status=\"404\"} \(count)\n"))
      #expect(try await late.untilClosed().components(separatedBy: "HTTP/1.1 404 ").count == count + 1)
      try await sending.value
    }
  }

  @Test func theLastAnswerIsNotCutOff() async throws {
    try await withGateway(timeouts: Timeouts(linger: .milliseconds(20))) { gateway in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for size in Self.sizes {
          group.addTask {
            let slow = try await RawConnection(port: gateway.port, receiveBytes: 16 * 1024)
            try await slow.send("GET /download?told=1&bytes=\(size) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            let answer = try await slow.untilClosed()
            #expect(answer.bodyBytes == size, "\(answer.prefix(300))")
          }
        }
        try await group.waitForAll()
      }
    }
  }

  @Test func aStopLetsTheLastAnswerArrive() async throws {
    try await withGateway { gateway in
      let settings = gateway.stack.dependencies(of: "gateway").settings
      let stopping = try buildGateway(
        Dependencies(settings, serviceAddresses: gateway.serviceAddresses, logger: quiet), routes: TestGateway.routes)
      let readers = try await running([stopping]) {
        let port = try await stopping.port.number
        var readers: [Task<String, any Error>] = []
        for size in Self.sizes {
          let slow = try await RawConnection(port: port, receiveBytes: 16 * 1024)
          try await slow.send("GET /download?told=1&bytes=\(size) HTTP/1.1\r\nHost: x\r\n\r\n")
          let metrics = Browser("http://127.0.0.1:\(port)")
          try await eventually("the end of the exchange") {
            for _ in 0..<10 { _ = try await slow.received() }
            let ended = "{route=\"/download\",method=\"GET\",status=\"200\"} \(readers.count + 1)\n"
            return try await metrics.get("/metrics").text.contains(ended)
          }
          readers.append(
            Task {
              try await Task.sleep(for: .milliseconds(500))
              return try await slow.untilClosed()
            })
        }
        return readers
      }
      for (reader, size) in zip(readers, Self.sizes) {
        let answer = try await reader.value
        #expect(answer.bodyBytes == size, "\(answer.prefix(300))")
      }
    }
  }

  /// Several sizes, because the fill of the kernel's buffers at the end of a response is random.
  private static let sizes = (0..<6).map { 4 * 1024 * 1024 + $0 * 3 * 64 * 1024 }

  @Test func aStopDoesNotWaitForConnectionsWhoseLastAnswerIsOver() async throws {
    try await withGateway { gateway in
      let settings = gateway.stack.dependencies(of: "gateway").settings
      let stopping = try buildGateway(
        Dependencies(settings, serviceAddresses: gateway.serviceAddresses, logger: quiet), routes: TestGateway.routes)
      let raw = try await running([stopping]) {
        let raw = try await RawConnection(port: try await stopping.port.number)
        try await raw.send("GET /events HTTP/1.1\r\nHost: x\r\n\r\n")
        try await eventually("the first event") { try await raw.received().contains("data: 1") }
        Task {
          try await Task.sleep(for: .milliseconds(500))
          gateway.service.resume()
        }
        return (raw, ContinuousClock.now)
      }
      #expect(ContinuousClock.now - raw.1 > .milliseconds(400), "the premise: it waited for the answer")
      #expect(ContinuousClock.now - raw.1 < .seconds(10))
      #expect(try await raw.0.untilClosed().contains("data: 2"))
    }
  }
}

extension String {
  /// The number of bytes after the head. Searched for in the first kilobyte: in several megabytes it takes seconds.
  fileprivate var bodyBytes: Int {
    let start = Substring(decoding: utf8.prefix(1024), as: UTF8.self)
    guard let head = start.range(of: "\r\n\r\n") else { return 0 }
    return utf8.count - start[..<head.upperBound].utf8.count
  }
}
