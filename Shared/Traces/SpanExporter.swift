import Logging
import Measures

/// Sends spans to a collector, some at a time. A collector that is slow, broken or away costs spans, which are counted,
/// and nothing else.
package final class SpanExporter: Sendable {
  /// How many spans wait, and how long it waits for what.
  package struct Pace: Sendable {
    package var spansMax = 2048
    package var batchMax = 512
    /// Between two batches that are not full.
    package var delay = Duration.seconds(5)
    /// For one try.
    package var answer = Duration.seconds(10)
    /// After which a batch is not tried again.
    package var batch = Duration.seconds(30)
    /// Before the second try; twice as long before each further one.
    package var retry = Duration.seconds(1)
    package var triesMax = 5
    /// For all that is left when the process stops.
    package var flush = Duration.seconds(2)

    package init() {}
  }

  private let queue: SpanQueue
  private let collector: Collector
  private let pace: Pace
  private let log: CollectorLog
  private let (bell, ringer) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

  package init(to collector: Collector, pace: Pace = Pace(), registry: Registry, logger: Logger) {
    self.collector = collector
    self.pace = pace
    log = CollectorLog(logger)
    queue = SpanQueue(pace, in: registry)
  }

  /// Never waits.
  func add(_ span: EndedSpan) {
    if queue.add(span) { ringer.yield() }
  }

  /// Sends for as long as `work` takes; what is left then has ``Pace/flush`` to go, also when `work` was called off.
  package func during<T>(
    isolation: isolated (any Actor)? = #isolation, _ work: () async throws -> T
  ) async rethrows -> T {
    let sending = Task { await send() }
    do {
      let result = try await work()
      await stop(sending)
      return result
    } catch {
      await stop(sending)
      throw error
    }
  }

  private func stop(_ sending: Task<Void, Never>) async {
    sending.cancel()
    await sending.value
    await Task { await flush() }.value
  }

  private func send() async {
    await withDiscardingTaskGroup { group in
      group.addTask { [pace, ringer] in
        while !Task.isCancelled {
          // `try?`: the sleep is cut short by the end, which the loop looks for.
          try? await Task.sleep(for: pace.delay)
          ringer.yield()
        }
      }
      for await _ in bell {
        while !Task.isCancelled, let batch = queue.take() { await deliver(batch) }
      }
      group.cancelAll()
    }
  }

  /// OTLP's rules for trying again: only what may pass, after as long as the collector says, else later each time and not
  /// all processes at once.
  private func deliver(_ batch: [EndedSpan]) async {
    let end = ContinuousClock.now + pace.batch
    for attempt in 1... {
      let answer = await take(batch)
      guard case .away(let why, let retryAfter) = answer else { return settle(answer, batch) }
      guard !Task.isCancelled else { return queue.putBack(batch) }
      log.isAway(why)
      let wait = retryAfter ?? pace.retry * (1 << (attempt - 1)) * Double.random(in: 0.5...1.5)
      guard attempt < pace.triesMax, retryAfter != nil || ContinuousClock.now + wait < end else {
        return queue.drop(batch.count, .unreachable)
      }
      do { try await Task.sleep(for: wait) } catch { return queue.putBack(batch) }
    }
  }

  private func take(_ batch: [EndedSpan]) async -> Collector.Answer {
    await within(pace.answer) { [collector] in await collector.take(batch) } ?? .away("no answer in time")
  }

  private func settle(_ answer: Collector.Answer, _ batch: [EndedSpan]) {
    switch answer {
    case .taken(let said, let why):
      let rejected = min(said, batch.count)
      queue.sent(batch.count - rejected)
      queue.drop(rejected, .refused)
      if rejected > 0 || !why.isEmpty { log.rejected(rejected, because: why) } else { log.isWell() }
    case .refused(let why):
      log.isAway(why)
      queue.drop(batch.count, .refused)
    case .away(let why, _):
      log.isAway(why)
      queue.drop(batch.count, .stopped)
    }
  }

  /// Sends what there is, once, and drops what did not get through in time.
  private func flush() async {
    _ = await within(pace.flush) { [self] in
      while !Task.isCancelled, let batch = queue.take() { settle(await take(batch), batch) }
    }
    while let batch = queue.take() { queue.drop(batch.count, .stopped) }
  }
}

/// nil when `work` took longer, which it is then cancelled for.
private func within<T: Sendable>(_ limit: Duration, _ work: @escaping @Sendable () async -> T) async -> T? {
  await withTaskGroup(of: T?.self) { group in
    group.addTask { await work() }
    group.addTask {
      // `try?`: being cut short means that there is an answer, or that nobody wants one.
      try? await Task.sleep(for: limit)
      return nil
    }
    defer { group.cancelAll() }
    return await group.next() ?? nil
  }
}
