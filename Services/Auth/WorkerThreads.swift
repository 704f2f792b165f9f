import Foundation

/// A few threads for work that computes or blocks, which would stand in everybody's way on the cooperative ones, and a
/// line of limited length before them.
final class WorkerThreads: Sendable {
  /// The line is full, and nothing has been done.
  struct Full: Error {}

  private let line: Line

  /// - Parameter waitingMax: how many may wait while all the threads are busy.
  init(_ name: String, threads: Int, waitingMax: Int) {
    line = Line(name: name, threadsMax: threads, waitingMax: waitingMax)
  }

  deinit { line.close() }

  /// How much work is waiting for a thread.
  var waiting: Int { line.waiting }

  /// - Throws: what `work` throws; ``Full``; `CancellationError` when the caller was called off before a thread came to
  ///   it, which makes room for the next. Work that has begun goes on to its end.
  func run<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
    let ticket = Ticket()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        line.join(
          Job(
            ticket: ticket, work: { continuation.resume(with: Result { try work() }) },
            turnedAway: { continuation.resume(throwing: $0) }))
      }
    } onCancel: {
      line.leave(ticket)
    }
  }
}

/// Says which job is whose.
private final class Ticket: Sendable {}

private struct Job {
  let ticket: Ticket
  let work: () -> Void
  let turnedAway: (any Error) -> Void
}

/// `@unchecked Sendable`: what changes is only touched under `condition`.
private final class Line: @unchecked Sendable {
  private let name: String
  private let threadsMax: Int
  private let waitingMax: Int

  private let condition = NSCondition()
  private var jobs: [Job] = []
  private var threads = 0
  private var busy = 0
  private var isClosed = false

  init(name: String, threadsMax: Int, waitingMax: Int) {
    self.name = name
    self.threadsMax = threadsMax
    self.waitingMax = waitingMax
  }

  var waiting: Int { locked { jobs.count } }

  /// Called on the task whose work it is.
  func join(_ job: Job) {
    let refusal: (any Error)? = locked {
      // Called off before: `leave` has come and found nothing.
      if Task.isCancelled { return CancellationError() }
      guard busy + jobs.count < threadsMax + waitingMax else { return WorkerThreads.Full() }
      jobs.append(job)
      if busy + jobs.count > threads, threads < threadsMax { startThread() }
      condition.signal()
      return nil
    }
    if let refusal { job.turnedAway(refusal) }
  }

  func leave(_ ticket: Ticket) {
    let left = locked { () -> Job? in
      guard let index = jobs.firstIndex(where: { $0.ticket === ticket }) else { return nil }
      return jobs.remove(at: index)
    }
    left?.turnedAway(CancellationError())
  }

  /// Lets what has been given finish, then ends the threads.
  func close() {
    locked {
      isClosed = true
      condition.broadcast()
    }
  }

  private func startThread() {
    threads += 1
    let thread = Thread { [self] in
      while let job = next() {
        job.work()
        locked { busy -= 1 }
      }
    }
    thread.name = name
    thread.stackSize = 1 << 20
    thread.start()
  }

  private func next() -> Job? {
    locked {
      while jobs.isEmpty {
        if isClosed { return nil }
        condition.wait()
      }
      busy += 1
      return jobs.removeFirst()
    }
  }

  private func locked<T>(_ body: () -> T) -> T {
    condition.lock()
    defer { condition.unlock() }
    return body()
  }
}
