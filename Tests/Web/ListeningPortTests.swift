import Dispatch
import NIOEmbedded
import Testing
import Web

@Suite struct ListeningPortTests {
  @Test func whoWaitsGetsThePort() async throws {
    let port = ListeningPort()
    async let first = port.number
    port.opened(on: 7, EmbeddedChannel())
    #expect(try await first == 7)
    #expect(try await port.number == 7)
    port.ended()
    await #expect(throws: StartFailure.self) { try await port.number }
  }

  @Test func whoWaitsForAServerThatDoesNotStartIsTold() async throws {
    let port = ListeningPort()
    let waiting = Task { try await port.number }
    port.ended()
    port.opened(on: 7, EmbeddedChannel())
    await #expect(throws: StartFailure.self) { try await waiting.value }
  }

  @Test func whoIsCancelledWaitsNoLonger() async throws {
    let port = ListeningPort()
    let waiting = Task { try await port.number }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
  }

  /// A server ends in the moment in which the task that waits for it is cancelled.
  @Test func neitherTheEndNorACancellationWaitsForTheOther() async {
    let (outcomes, outcome) = AsyncStream<Bool>.makeStream()
    Task.detached {
      let start = ContinuousClock.now
      for _ in 0..<20_000 where .now - start < .seconds(5) {
        let port = ListeningPort()
        let (starts, start) = AsyncStream<Void>.makeStream()
        let waiting = Task {
          start.finish()
          return try await port.number
        }
        for await _ in starts {}
        DispatchQueue.global().async { port.ended() }
        waiting.cancel()
        _ = await waiting.result
      }
      outcome.yield(true)
    }
    // Threads that wait for each other do so forever.
    DispatchQueue.global().asyncAfter(deadline: .now() + 40) { outcome.yield(false) }
    var first = outcomes.makeAsyncIterator()
    #expect(await first.next() == true)
  }
}
