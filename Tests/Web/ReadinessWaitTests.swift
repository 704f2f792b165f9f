import Hummingbird
import Support
import Synchronization
import Testing

@testable import Web

/// `wait`, with which a deployment starts one program after others.
@Suite struct ReadinessWaitTests {
  @Test func aProgramIsWaitedForUntilItIsReady() async throws {
    let (ready, starting) = (StartingProgram(refusals: 0), StartingProgram(refusals: 3))
    try await running([ready.server(), starting.server()]) {
      try await ReadinessWait(forPrograms: [try await ready.url, try await starting.url + "/"]).run()
      #expect(ready.requestCount == 1)
      #expect(starting.requestCount == 4)
    }
  }

  @Test func aProgramIsWaitedForUntilItListens() async throws {
    let port = try freePort()
    let program = StartingProgram(refusals: 0, port: port)
    let hasEnded = Flag()
    let waiting = Task {
      try await ReadinessWait(forPrograms: ["http://127.0.0.1:\(port)"]).run()
      hasEnded.raise()
    }
    try await Task.sleep(for: .milliseconds(500))
    #expect(!hasEnded.isRaised)
    try await running([program.server()]) { try await waiting.value }
    #expect(program.requestCount == 1)
  }

  @Test func thoseThatAreNotReadyInTimeAreNamed() async throws {
    let (ready, starting) = (StartingProgram(refusals: 0), StartingProgram(refusals: .max))
    let gone = "http://127.0.0.1:\(try freePort())"
    try await running([ready.server(), starting.server()]) {
      let urls = [try await ready.url, gone, try await starting.url]
      let failure = await #expect(throws: StartFailure.self) {
        try await ReadinessWait(forPrograms: urls, limit: .seconds(3)).run()
      }
      let reason = failure?.description ?? ""
      #expect(reason.hasPrefix("not ready within 3 seconds: \(gone)/health/ready did not answer: "))
      #expect(reason.hasSuffix("; \(urls[2])/health/ready answered 503"))
    }
  }

  /// The last request may be cut short by the limit, which says nothing of the program.
  @Test func theLastWholeAnswerIsTheReason() async throws {
    let program = StartingProgram(refusals: 1, isSilentAfterwards: true)
    try await running([program.server()]) {
      let url = try await program.url
      let failure = await #expect(throws: StartFailure.self) {
        try await ReadinessWait(forPrograms: [url], limit: .seconds(3)).run()
      }
      #expect(failure?.description == "not ready within 3 seconds: \(url)/health/ready answered 503")
      #expect(program.requestCount == 2)
    }
  }

  @Test(arguments: ["auth:8080", "ftp://auth", "http://", "http://auth:8080/health/ready", "http://auth?a=b", ""])
  func anythingElseThanABaseURLIsRefused(text: String) {
    #expect(throws: StartFailure.self) { _ = try ReadinessWait(forPrograms: ["http://auth:8080", text]) }
  }
}

/// A program on loopback that answers 503 to the first requests for its readiness, and then 200 or nothing.
private final class StartingProgram: Sendable {
  private let requests = Atomic(0)
  private let refusals: Int
  private let isSilentAfterwards: Bool
  private let port: Int
  private let listening = ListeningPort()

  /// - Parameter port: 0 for any.
  init(refusals: Int, isSilentAfterwards: Bool = false, port: Int = 0) {
    self.refusals = refusals
    self.isSilentAfterwards = isSilentAfterwards
    self.port = port
  }

  var requestCount: Int { requests.load(ordering: .relaxed) }

  var url: String {
    get async throws { "http://127.0.0.1:\(try await listening.number)" }
  }

  func server() -> some ApplicationProtocol {
    let router = Router()
    router.get("/health/ready") { [self] _, _ -> Response in
      let number = requests.add(1, ordering: .relaxed).newValue
      if number <= refusals { return Response(status: .serviceUnavailable) }
      if isSilentAfterwards { try await Task.sleep(for: .seconds(4)) }
      return Response(status: .ok)
    }
    return loopbackServer(router, listening, port: port)
  }
}
