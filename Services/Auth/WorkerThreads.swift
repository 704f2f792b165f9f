import Foundation

/// A fixed number of threads, with a bounded queue, for work that computes or blocks and would occupy the threads of
/// the cooperative pool.
final class WorkerThreads: Sendable {
  /// The queue is full; the work was not started.
  struct QueueFull: Error {}

  private let queue: JobQueue

  /// - Parameter waitingMax: the number of jobs that may wait while all threads are busy.
  init(_ name: String, threads: Int, waitingMax: Int) {
    queue = JobQueue(name: name, threadsMax: threads, waitingMax: waitingMax)
  }

  deinit { queue.close() }

  /// The number of jobs that wait for a thread.
  var waiting: Int { queue.waiting }

  /// - Throws: what `work` throws; ``QueueFull``; `CancellationError` when the caller is cancelled before a thread has
  ///   started the work, which frees its place in the queue. Work that has started is completed.
  func run<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
    let id = JobID()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        queue.enqueue(
          Job(
            id: id, work: { continuation.resume(with: Result { try work() }) },
            reject: { continuation.resume(throwing: $0) }))
      }
    } onCancel: {
      queue.cancel(id)
    }
  }
}

/// Identifies a job in the queue.
private final class JobID: Sendable {}

private struct Job {
  let id: JobID
  let work: () -> Void
  let reject: (any Error) -> Void
}

/// `@unchecked Sendable`: the mutable state is only accessed under `condition`.
private final class JobQueue: @unchecked Sendable {
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

  /// Called on the task that awaits the job.
  func enqueue(_ job: Job) {
    let rejection: (any Error)? = locked {
      // Cancelled before: `cancel` did not find the job.
      if Task.isCancelled { return CancellationError() }
      guard busy + jobs.count < threadsMax + waitingMax else { return WorkerThreads.QueueFull() }
      jobs.append(job)
      if busy + jobs.count > threads, threads < threadsMax { startThread() }
      condition.signal()
      return nil
    }
    if let rejection { job.reject(rejection) }
  }

  func cancel(_ id: JobID) {
    let removed = locked { () -> Job? in
      guard let index = jobs.firstIndex(where: { $0.id === id }) else { return nil }
      return jobs.remove(at: index)
    }
    removed?.reject(CancellationError())
  }

  /// Completes the jobs that are queued, then ends the threads.
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
