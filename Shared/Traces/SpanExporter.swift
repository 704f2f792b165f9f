import Logging
import Prometheus

/// Exports spans to a collector in batches. While the collector is slow or unavailable, spans are dropped and counted;
/// nothing else is affected.
package final class SpanExporter: Sendable {
  /// Sizes and timeouts, as in OpenTelemetry's batch span processor.
  package struct BatchOptions: Sendable {
    package var queueSpansMax = 2048
    package var batchSpansMax = 512
    /// The time between two batches that are not full.
    package var scheduleDelay = Duration.seconds(5)
    /// For one request to the collector.
    package var requestTimeout = Duration.seconds(10)
    /// For all attempts to export one batch.
    package var exportTimeout = Duration.seconds(30)
    /// Before the second attempt; doubled before each further one.
    package var retryDelay = Duration.seconds(1)
    package var attemptsMax = 5
    /// For all queued spans when the process stops.
    package var flushTimeout = Duration.seconds(2)

    package init() {}
  }

  private let queue: SpanQueue
  private let collector: CollectorClient
  private let options: BatchOptions
  private let log: CollectorLog
  private let (wakeUps, wakeUp) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

  package init(
    to collector: CollectorClient, options: BatchOptions = BatchOptions(), registry: MetricsRegistry, logger: Logger
  ) {
    self.collector = collector
    self.options = options
    log = CollectorLog(logger)
    queue = SpanQueue(options, in: registry)
  }

  /// Queues a span without blocking.
  func add(_ span: EndedSpan) {
    if queue.add(span) { wakeUp.yield() }
  }

  /// Exports while `work` runs, then flushes the queue within ``BatchOptions/flushTimeout``, also when `work` threw or
  /// was cancelled.
  package func during<T>(
    isolation: isolated (any Actor)? = #isolation, _ work: () async throws -> T
  ) async rethrows -> T {
    let exporting = Task { await exportBatches() }
    do {
      let result = try await work()
      await stop(exporting)
      return result
    } catch {
      await stop(exporting)
      throw error
    }
  }

  private func stop(_ exporting: Task<Void, Never>) async {
    exporting.cancel()
    await exporting.value
    await Task { await flush() }.value
  }

  private func exportBatches() async {
    await withDiscardingTaskGroup { group in
      group.addTask { [options, wakeUp] in
        while !Task.isCancelled {
          // `try?`: a cancelled sleep ends the loop.
          try? await Task.sleep(for: options.scheduleDelay)
          wakeUp.yield()
        }
      }
      for await _ in wakeUps {
        while !Task.isCancelled, let batch = queue.take() { await export(batch) }
      }
      group.cancelAll()
    }
  }

  /// Exports a batch with OTLP's rules for retries: only transient errors, after the delay that the collector asks for,
  /// else with exponential backoff and jitter.
  private func export(_ batch: [EndedSpan]) async {
    let end = ContinuousClock.now + options.exportTimeout
    for attempt in 1... {
      let result = await send(batch)
      guard case .unavailable(let reason, let retryAfter) = result else { return finish(batch, with: result) }
      guard !Task.isCancelled else { return queue.putBack(batch) }
      log.unavailable(reason)
      let wait = retryAfter ?? options.retryDelay * (1 << (attempt - 1)) * Double.random(in: 0.5...1.5)
      guard attempt < options.attemptsMax, retryAfter != nil || ContinuousClock.now + wait < end else {
        return queue.drop(batch.count, .unreachable)
      }
      do { try await Task.sleep(for: wait) } catch { return queue.putBack(batch) }
    }
  }

  private func send(_ batch: [EndedSpan]) async -> CollectorClient.ExportResult {
    await withTimeout(options.requestTimeout) { [collector] in await collector.export(batch) }
      ?? .unavailable("no answer in time")
  }

  private func finish(_ batch: [EndedSpan], with result: CollectorClient.ExportResult) {
    switch result {
    case .accepted(let reported, let message):
      let rejected = min(reported, batch.count)
      queue.sent(batch.count - rejected)
      queue.drop(rejected, .refused)
      if rejected > 0 || !message.isEmpty { log.rejected(rejected, reason: message) } else { log.accepted() }
    case .refused(let reason):
      log.unavailable(reason)
      queue.drop(batch.count, .refused)
    case .unavailable(let reason, _):
      log.unavailable(reason)
      queue.drop(batch.count, .stopped)
    }
  }

  /// Sends every queued batch once, and drops those that could not be sent in time.
  private func flush() async {
    _ = await withTimeout(options.flushTimeout) { [self] in
      while !Task.isCancelled, let batch = queue.take() { finish(batch, with: await send(batch)) }
    }
    while let batch = queue.take() { queue.drop(batch.count, .stopped) }
  }
}

/// Runs `work`, and cancels it after `timeout`; the result is nil then.
private func withTimeout<T: Sendable>(_ timeout: Duration, _ work: @escaping @Sendable () async -> T) async -> T? {
  await withTaskGroup(of: T?.self) { group in
    group.addTask { await work() }
    group.addTask {
      // `try?`: a cancelled sleep means that `work` has ended or was cancelled itself.
      try? await Task.sleep(for: timeout)
      return nil
    }
    defer { group.cancelAll() }
    return await group.next() ?? nil
  }
}
