import NIOCore
import NIOPosix

/// The event loops, each with the state that only it touches.
final class Loops: Sendable {
  private let boxes: [(loop: any EventLoop, box: NIOLoopBoundBox<LoopState?>)]
  private let byLoop: [ObjectIdentifier: NIOLoopBoundBox<LoopState?>]

  init() {
    boxes = MultiThreadedEventLoopGroup.singleton.makeIterator().map { loop in
      (loop, NIOLoopBoundBox.makeEmptyBox(valueType: LoopState.self, eventLoop: loop))
    }
    byLoop = Dictionary(boxes.map { (ObjectIdentifier($0.loop), $0.box) }) { first, _ in first }
  }

  func start(_ make: @escaping @Sendable (any EventLoop) -> LoopState) async throws {
    for (loop, box) in boxes {
      try await loop.submit {
        let made = make(loop)
        made.start()
        box.value = made
      }.get()
    }
  }

  /// To be called on `loop`.
  func state(of loop: any EventLoop) -> LoopState? { byLoop[ObjectIdentifier(loop)]?.value }

  /// Asks every loop's state something, on its loop. Loops that have ended say nothing.
  func gather<T: Sendable>(_ question: @escaping @Sendable (LoopState) -> T) async -> [T] {
    var answers: [T] = []
    for (loop, box) in boxes {
      // `try?`: a loop that has ended has no state either.
      if let answer = try? await loop.submit({ box.value.map(question) }).get() { answers.append(answer) }
    }
    return answers
  }
}
