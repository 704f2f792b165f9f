import Dispatch
import Foundation
import Testing

@testable import KithClient

/// What is between the writer and the reader of a stream.
@Suite(.timeLimit(.minutes(1))) struct BoundedBufferTests {
  @Test func aFullBufferTakesNoMoreUntilItIsRead() async throws {
    let buffer = BoundedBuffer<Int>(countMax: 2)
    #expect(buffer.offer(1) && buffer.offer(2) && !buffer.offer(3))
    var reader = buffer.stream {}.makeAsyncIterator()
    #expect(try await reader.next() == 1)
    #expect(buffer.offer(3))
    buffer.finish()
    #expect(try await reader.next() == 2)
    #expect(try await reader.next() == 3)
    #expect(try await reader.next() == nil)
  }

  @Test func aLargeElementIsTakenWhenNothingElseIsThere() {
    let buffer = BoundedBuffer<Data>(costMax: 10, cost: \.count)
    #expect(buffer.offer(Data(count: 100)) && !buffer.offer(Data(count: 1)))
  }

  @Test func aWriterWaitsForItsReader() async throws {
    let stream = BoundedBuffer<Int>.stream(countMax: 4) { buffer in
      for number in 1...1000 { try await buffer.send(number) }
      try await buffer.drained()
      #expect(buffer.offer(1001))
    }
    var all: [Int] = []
    for try await number in stream { all.append(number) }
    #expect(all == Array(1...1001))
  }

  @Test func theEndComesAfterWhatIsStillThere() async throws {
    let buffer = BoundedBuffer<Int>(countMax: 2)
    _ = buffer.offer(1)
    buffer.finish(throwing: NoAnswer("lost"))
    buffer.finish()
    var reader = buffer.stream {}.makeAsyncIterator()
    #expect(try await reader.next() == 1)
    await #expect(throws: NoAnswer("lost")) { try await reader.next() }
    #expect(try await reader.next() == nil)
  }

  @Test func aWriterWhoseReaderHasGoneIsCancelled() async throws {
    let (ends, end) = AsyncStream<Bool>.makeStream()
    func readOne() async throws {
      let stream = BoundedBuffer<Int>.stream(countMax: 2) { buffer in
        do { while true { try await buffer.send(1) } } catch {
          end.yield(error is CancellationError)
          throw error
        }
      }
      for try await _ in stream { return }
    }
    try await readOne()
    var isCancelled = ends.makeAsyncIterator()
    #expect(await isCancelled.next() == true)
  }

  @Test func aCancelledReaderEnds() async throws {
    let buffer = BoundedBuffer<Int>(countMax: 2)
    let stream = buffer.stream {}
    let reading = Task {
      var count = 0
      for try await _ in stream { count += 1 }
      return count
    }
    reading.cancel()
    #expect(try await reading.value == 0)
  }

  /// A thread ends a stream in the moment in which the task that waits for it is cancelled.
  @Test func neitherTheEndNorACancellationWaitsForTheOther() async {
    let (outcomes, outcome) = AsyncStream<Bool>.makeStream()
    Task.detached {
      let start = ContinuousClock.now
      for round in 0..<20_000 where .now - start < .seconds(5) {
        await Self.race(ofWriter: round.isMultiple(of: 2))
      }
      outcome.yield(true)
    }
    // Threads that wait for each other do so forever.
    DispatchQueue.global().asyncAfter(deadline: .now() + 40) { outcome.yield(false) }
    var first = outcomes.makeAsyncIterator()
    #expect(await first.next() == true)
  }

  private static func race(ofWriter: Bool) async {
    let buffer = BoundedBuffer<Int>(countMax: 1)
    let stream = buffer.stream {}
    let (starts, start) = AsyncStream<Void>.makeStream()
    let task = Task {
      start.finish()
      if ofWriter {
        for number in 0..<2 { try await buffer.send(number) }
      } else {
        for try await _ in stream {}
      }
    }
    for await _ in starts {}
    DispatchQueue.global().async { buffer.finish(throwing: NoAnswer("over")) }
    task.cancel()
    _ = await task.result
    withExtendedLifetime(stream) {}
  }
}
