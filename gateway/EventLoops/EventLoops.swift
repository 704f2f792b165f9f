import NIOCore
import NIOPosix

/// All event loops, each with the state that is used on that loop only.
final class EventLoops: Sendable {
  private let boxes: [(loop: any EventLoop, box: NIOLoopBoundBox<EventLoopState?>)]
  private let byLoop: [ObjectIdentifier: NIOLoopBoundBox<EventLoopState?>]

  init() {
    boxes = MultiThreadedEventLoopGroup.singleton.makeIterator().map { loop in
      (loop, NIOLoopBoundBox.makeEmptyBox(valueType: EventLoopState.self, eventLoop: loop))
    }
    byLoop = Dictionary(boxes.map { (ObjectIdentifier($0.loop), $0.box) }) { first, _ in first }
  }

  func start(_ make: @escaping @Sendable (any EventLoop) -> EventLoopState) async throws {
    for (loop, box) in boxes {
      try await loop.submit {
        box.value = make(loop)
      }.get()
    }
  }

  /// Must be called on `loop`.
  func state(of loop: any EventLoop) -> EventLoopState? { byLoop[ObjectIdentifier(loop)]?.value }

  /// Calls `body` with the state of each event loop, on that loop, and returns the results. Event loops that have shut
  /// down are left out.
  func gather<T: Sendable>(_ body: @escaping @Sendable (EventLoopState) -> T) async -> [T] {
    var results: [T] = []
    for (loop, box) in boxes {
      // `try?`: an event loop that has shut down has no state.
      if let result = try? await loop.submit({ box.value.map(body) }).get() { results.append(result) }
    }
    return results
  }
}
