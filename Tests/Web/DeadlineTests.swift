import Support
import Testing
import Wire

@testable import Web

@Suite struct DeadlineTests {
  @Test func whatTakesTooLongIsCancelledAndTheRestIsNot() async throws {
    let deadlines = Deadlines(limit: .milliseconds(100), every: .milliseconds(10))
    try await running([deadlines]) {
      let quick = try await deadlines.within { 7 }
      #expect(quick == 7)
      let started = ContinuousClock.now
      await #expect(throws: DeadlinePassed.self) {
        try await deadlines.within { try await Task.sleep(for: .seconds(30)) }
      }
      #expect(ContinuousClock.now - started < .seconds(5))
    }
    // An error of its own stays what it is.
    let patient = Deadlines(limit: .seconds(60))
    await #expect(throws: CancellationError.self) { try await patient.within { throw CancellationError() } }
  }

  @Test func aCallerWhoWaitsForLessGetsLessAndNobodyGetsMore() async throws {
    let deadlines = Deadlines(limit: .seconds(60), every: .milliseconds(10))
    try await running([deadlines]) {
      let started = ContinuousClock.now
      await #expect(throws: DeadlinePassed.self) {
        try await deadlines.within(.milliseconds(50)) { try await Task.sleep(for: .seconds(30)) }
      }
      #expect(ContinuousClock.now - started < .seconds(10))
      let left = try await deadlines.within(.seconds(3600)) { Deadline.remaining(of: .seconds(3600)) }
      #expect(left <= .seconds(60))
    }
  }

  @Test func whoeverCancelsTheRequestCancelsItsWork() async throws {
    let deadlines = Deadlines(limit: .seconds(60))
    let request = Task { try await deadlines.within { try await Task.sleep(for: .seconds(30)) } }
    try await Task.sleep(for: .milliseconds(20))
    request.cancel()
    let result = await request.result
    #expect(throws: CancellationError.self) { try result.get() }
  }
}
