import Foundation

/// What is between the one writer and the one reader of a stream, of a limited size. The writer learns that the reader
/// is behind, rather than filling the memory.
///
/// Whoever waits is resumed when the lock is free again: resuming takes a lock of the task, and who cancels the task
/// holds that one while the handlers of the cancellation take the lock of the buffer.
///
/// `@unchecked Sendable`: `state` is only used under the lock.
final class BoundedBuffer<Element: Sendable>: @unchecked Sendable {
  private struct Waiting {
    let writer: CheckedContinuation<Void, Never>
    /// It goes on when no more than this is left.
    let cost: Int
  }

  /// A task that goes on, and with what.
  private enum Resumption {
    case writer(CheckedContinuation<Void, Never>)
    case reader(CheckedContinuation<Element?, any Error>, Result<Element?, any Error>)

    func run() {
      switch self {
      case .writer(let writer): writer.resume()
      case .reader(let reader, let result): reader.resume(with: result)
      }
    }
  }

  private struct State {
    var elements: ArraySlice<Element> = []
    var cost = 0
    var end: Result<Void, any Error>?
    var reader: CheckedContinuation<Element?, any Error>?
    var waiting: Waiting?
    /// Run once the lock is free.
    var resumptions: [Resumption] = []

    mutating func resumeWriter() {
      if let waiting { resumptions.append(.writer(waiting.writer)) }
      waiting = nil
    }

    mutating func resumeReader(_ result: Result<Element?, any Error>) {
      if let reader { resumptions.append(.reader(reader, result)) }
      reader = nil
    }

    mutating func takeEnd() -> Result<Element?, any Error> {
      defer { end = .success(()) }
      return (end ?? .success(())).map { nil }
    }
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

  private func withState<T>(_ body: (inout State) -> T) -> T {
    let (result, resumptions) = lock.withLock {
      let result = body(&state)
      defer { state.resumptions = [] }
      return (result, state.resumptions)
    }
    for resumption in resumptions { resumption.run() }
    return result
  }

  // MARK: Writing

  /// - Returns: false when it does not fit.
  func offer(_ element: Element) -> Bool {
    let cost = cost(element)
    return withState { state in
      guard state.end == nil else { return true }
      guard state.reader == nil else {
        state.resumeReader(.success(element))
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
    withState { state in
      guard state.end == nil else { return }
      state.end = error.map { .failure($0) } ?? .success(())
      state.resumeWriter()
      if state.reader != nil { state.resumeReader(state.takeEnd()) }
    }
  }

  private func wait(untilAtMost cost: Int) async throws {
    await withTaskCancellationHandler {
      await withCheckedContinuation { writer in
        withState { state in
          state.waiting = Waiting(writer: writer, cost: cost)
          if state.end != nil || state.cost <= cost || Task.isCancelled { state.resumeWriter() }
        }
      }
    } onCancel: {
      withState { $0.resumeWriter() }
    }
    try Task.checkCancellation()
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
        withState { state in
          precondition(state.reader == nil, "one task reads a stream")
          state.reader = reader
          if let element = state.elements.popFirst() {
            state.cost -= cost(element)
            if let waiting = state.waiting, state.cost <= waiting.cost { state.resumeWriter() }
            state.resumeReader(.success(element))
          } else if state.end != nil {
            state.resumeReader(state.takeEnd())
          }
        }
      }
    } onCancel: {
      close()
    }
  }

  /// Nobody reads any more.
  private func close() {
    withState { state in
      state.end = .success(())
      state.elements = []
      state.cost = 0
      state.resumeWriter()
      state.resumeReader(.success(nil))
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
