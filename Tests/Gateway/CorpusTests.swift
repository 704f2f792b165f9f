import Foundation
import NIOCore
import Support
import Testing

/// Raw requests, byte for byte, over real sockets: what the gateway makes of them, and that no service ever saw one that
/// is refused.
@Suite struct CorpusTests {
  @Test func theCorpusIsLargeAndItsNamesDiffer() {
    let all = RawRequest.refused + RawRequest.accepted + RawRequest.smuggled + RawRequest.brokenBodies
    #expect(RawRequest.refused.count >= 300)
    #expect(Set(all.map(\.name)).count == all.count)
    #expect(Set(RawRequest.refused.map(\.bytes)).count == RawRequest.refused.count)
  }

  @Test func whatIsCanonicalReachesItsService() async throws {
    try await withPipe { pipe in
      try await each(RawRequest.accepted, of: pipe) { request, answers in
        #expect(answers.first?.status == request.status, "\(request.name)")
      }
      #expect(pipe.service.requests > 0)
    }
  }

  @Test func whatIsNotIsRefusedAndNoServiceSeesIt() async throws {
    try await withPipe { pipe in
      try await each(RawRequest.refused, of: pipe) { request, answers in
        #expect(answers.map(\.status) == [request.status], "\(request.name)")
        #expect(answers.first?.closes == true, "\(request.name)")
      }
      #expect(pipe.service.requests == 0)
      // The premise: this service can be reached.
      #expect(try await pipe.browser.get("/echo?n=1").status == 200)
    }
  }

  @Test func whatFollowsAGoodRequestIsJudgedByItself() async throws {
    try await withPipe { pipe in
      try await each(RawRequest.smuggled, of: pipe) { request, answers in
        #expect(answers.map(\.status) == [200, request.status], "\(request.name)")
        #expect(answers.last?.closes == true, "\(request.name)")
      }
      #expect(pipe.service.requests == RawRequest.smuggled.count)
    }
  }

  @Test func aServiceNeverSeesTheEndOfABodyThatIsBroken() async throws {
    try await withPipe { pipe in
      try await each(RawRequest.brokenBodies, of: pipe) { request, answers in
        #expect(answers.map(\.status) == [request.status], "\(request.name)")
        #expect(answers.first?.closes == true, "\(request.name)")
      }
      #expect(pipe.service.completed == 0)
      #expect(try await pipe.browser.post("/count", ["a": 1]).status == 200)
      #expect(pipe.service.completed == 1)
    }
  }

  /// Sends each request on a connection of its own, several at a time.
  private func each(
    _ requests: [RawRequest], of pipe: Pipe, _ check: @escaping @Sendable (RawRequest, [RawAnswer]) -> Void
  ) async throws {
    let port = pipe.port
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (index, request) in requests.enumerated() {
        if index >= 16 { try await group.next() }
        group.addTask {
          let raw = try await RawConnection(port: port)
          try await raw.send(request.bytes)
          let text = try await raw.untilClosed()
          check(request, RawAnswer.all(in: text))
        }
      }
      try await group.waitForAll()
    }
  }
}

/// The status of one answer on a raw connection, and whether it says that it is the last.
struct RawAnswer: Sendable {
  let status: Int
  let closes: Bool

  static func all(in text: String) -> [RawAnswer] {
    text.components(separatedBy: "HTTP/1.1 ").dropFirst().compactMap { answer in
      guard let status = Int(answer.prefix(3)), status != 100 else { return nil }
      let head = answer.components(separatedBy: "\r\n\r\n")[0].lowercased()
      return RawAnswer(status: status, closes: head.contains("\r\nconnection: close"))
    }
  }
}
