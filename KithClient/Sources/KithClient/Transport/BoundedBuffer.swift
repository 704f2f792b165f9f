import Foundation

/// What is between the one writer and the one reader of a stream, of a limited size. The writer learns that the reader
/// is behind, rather than filling the memory.
///
/// `@unchecked Sendable`: `state` is only used under the lock.
final class BoundedBuffer<Element: Sendable>: @unchecked Sendable {
  private struct Waiting {
    let writer: CheckedContinuation<Void, Never>
    /// It goes on when no more than this is left.
    let cost: Int
  }

  private struct State {
    var elements: ArraySlice<Element> = []
    var cost = 0
    var end: Result<Void, any Error>?
    var reader: CheckedContinuation<Element?, any Error>?
    var waiting: Waiting?
  }

  private let costMax: Int
  private let cost: @Sendable (Element) -> Int
  private let lock = NSLock()
  private var state = State()

  /// - Parameter costMax: of all elements together. A single one may cost more.
  init(costMax: Int, cost: @escaping @Sendable (Element) -> Int) {
    self.costMax = costMax
    self.cost = cost
  }

  convenience init(countMax: Int) { self.init(costMax: countMax) { _ in 1 } }

  // MARK: Writing

  /// - Returns: false when it does not fit.
  func offer(_ element: Element) -> Bool {
    let cost = cost(element)
    return lock.withLock {
      guard state.end == nil else { return true }
      if let reader = state.reader {
        state.reader = nil
        reader.resume(returning: element)
        return true
      }
      guard state.elements.isEmpty || state.cost + cost <= costMax else { return false }
      state.elements.append(element)
      state.cost += cost
      return true
    }
  }

  /// Waits until it fits.
  ///
  /// - Throws: `CancellationError`.
  func send(_ element: Element) async throws {
    while !offer(element) { try await wait(untilAtMost: costMax / 2) }
  }

  /// Waits until everything was read.
  ///
  /// - Throws: `CancellationError`.
  func drained() async throws { try await wait(untilAtMost: 0) }

  /// After what is still to be read. Only the first end counts.
  func finish(throwing error: (any Error)? = nil) {
    lock.withLock {
      guard state.end == nil else { return }
      state.end = error.map { .failure($0) } ?? .success(())
      wakeWriter()
      guard let reader = state.reader else { return }
      state.reader = nil
      reader.resume(with: takeEnd())
    }
  }

  private func wait(untilAtMost cost: Int) async throws {
    await withTaskCancellationHandler {
      await withCheckedContinuation { writer in
        lock.withLock {
          guard state.end == nil, state.cost > cost, !Task.isCancelled else { return writer.resume() }
          state.waiting = Waiting(writer: writer, cost: cost)
        }
      }
    } onCancel: {
      lock.withLock { wakeWriter() }
    }
    try Task.checkCancellation()
  }

  private func wakeWriter() {
    state.waiting?.writer.resume()
    state.waiting = nil
  }

  // MARK: Reading

  /// - Parameter onTermination: is called when the reader has gone.
  func stream(onTermination: @escaping @Sendable () -> Void) -> AsyncThrowingStream<Element, any Error> {
    let reader = Reader(buffer: self, onTermination: onTermination)
    return AsyncThrowingStream { try await reader.next() }
  }

  /// The same for a task that writes, and is cancelled when the reader has gone.
  static func stream(
    countMax: Int, _ write: @escaping @Sendable (BoundedBuffer) async throws -> Void
  ) -> AsyncThrowingStream<Element, any Error> {
    let buffer = BoundedBuffer(countMax: countMax)
    let writing = Task {
      do {
        try await write(buffer)
        buffer.finish()
      } catch { buffer.finish(throwing: error) }
    }
    return buffer.stream { writing.cancel() }
  }

  /// - Returns: nil after the end, and for a reader that is cancelled.
  private func next() async throws -> Element? {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { reader in
        lock.withLock {
          if let element = state.elements.popFirst() {
            state.cost -= cost(element)
            if let waiting = state.waiting, state.cost <= waiting.cost { wakeWriter() }
            return reader.resume(returning: element)
          }
          guard state.end == nil else { return reader.resume(with: takeEnd()) }
          precondition(state.reader == nil, "one task reads a stream")
          state.reader = reader
        }
      }
    } onCancel: {
      close()
    }
  }

  private func takeEnd() -> Result<Element?, any Error> {
    defer { state.end = .success(()) }
    return (state.end ?? .success(())).map { nil }
  }

  /// Nobody reads any more.
  private func close() {
    lock.withLock {
      state.end = .success(())
      state.elements = []
      state.cost = 0
      wakeWriter()
      state.reader?.resume(returning: nil)
      state.reader = nil
    }
  }

  /// Belongs to the stream alone, and so goes with it.
  private final class Reader: Sendable {
    private let buffer: BoundedBuffer
    private let onTermination: @Sendable () -> Void

    init(buffer: BoundedBuffer, onTermination: @escaping @Sendable () -> Void) {
      self.buffer = buffer
      self.onTermination = onTermination
    }

    deinit {
      buffer.close()
      onTermination()
    }

    func next() async throws -> Element? { try await buffer.next() }
  }
}
