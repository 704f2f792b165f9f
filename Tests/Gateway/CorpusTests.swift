import Foundation
import NIOCore
import Support
import Testing

/// Sends raw requests over real sockets and checks the gateway's responses, and that no service received one that was
/// refused.
@Suite struct CorpusTests {
  @Test func theCorpusIsLargeAndItsNamesDiffer() {
    let all = RawRequest.refused + RawRequest.accepted + RawRequest.smuggled + RawRequest.brokenBodies
    #expect(RawRequest.refused.count >= 300)
    #expect(Set(all.map(\.name)).count == all.count)
    #expect(Set(RawRequest.refused.map(\.bytes)).count == RawRequest.refused.count)
  }

  @Test func whatIsCanonicalReachesItsService() async throws {
    try await withGateway { gateway in
      try await each(RawRequest.accepted, of: gateway) { request, responses in
        #expect(responses.first?.status == request.status, "\(request.name)")
      }
      #expect(gateway.service.requests > 0)
    }
  }

  @Test func whatIsNotIsRefusedAndNoServiceSeesIt() async throws {
    try await withGateway { gateway in
      try await each(RawRequest.refused, of: gateway) { request, responses in
        #expect(responses.map(\.status) == [request.status], "\(request.name)")
        #expect(responses.first?.closes == true, "\(request.name)")
      }
      #expect(gateway.service.requests == 0)
      // The premise: this service can be reached.
      #expect(try await gateway.browser.get("/echo?n=1").status == 200)
    }
  }

  @Test func whatFollowsAGoodRequestIsJudgedByItself() async throws {
    try await withGateway { gateway in
      try await each(RawRequest.smuggled, of: gateway) { request, responses in
        #expect(responses.map(\.status) == [200, request.status], "\(request.name)")
        #expect(responses.last?.closes == true, "\(request.name)")
      }
      #expect(gateway.service.requests == RawRequest.smuggled.count)
    }
  }

  @Test func aServiceNeverSeesTheEndOfABodyThatIsBroken() async throws {
    try await withGateway { gateway in
      try await each(RawRequest.brokenBodies, of: gateway) { request, responses in
        #expect(responses.map(\.status) == [request.status], "\(request.name)")
        #expect(responses.first?.closes == true, "\(request.name)")
      }
      #expect(gateway.service.completedBodies == 0)
      #expect(try await gateway.browser.post("/count", ["a": 1]).status == 200)
      #expect(gateway.service.completedBodies == 1)
    }
  }

  /// Sends each request on a new connection, several at a time.
  private func each(
    _ requests: [RawRequest], of gateway: TestGateway, _ check: @escaping @Sendable (RawRequest, [RawResponse]) -> Void
  ) async throws {
    let port = gateway.port
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (index, request) in requests.enumerated() {
        if index >= 16 { try await group.next() }
        group.addTask {
          let raw = try await RawConnection(port: port)
          try await raw.send(request.bytes)
          let text = try await raw.untilClosed()
          check(request, RawResponse.all(in: text))
        }
      }
      try await group.waitForAll()
    }
  }
}

/// The status of one response on a raw connection, and whether it announces the close.
struct RawResponse: Sendable {
  let status: Int
  let closes: Bool

  static func all(in text: String) -> [RawResponse] {
    text.components(separatedBy: "HTTP/1.1 ").dropFirst().compactMap { response in
      guard let status = Int(response.prefix(3)), status != 100 else { return nil }
      let head = response.components(separatedBy: "\r\n\r\n")[0].lowercased()
      return RawResponse(status: status, closes: head.contains("\r\nconnection: close"))
    }
  }
}
