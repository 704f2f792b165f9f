import Foundation
import KithClient
import Support
import Synchronization

/// Sends requests, and loses the first answer to each of some paths: the server has done what it was asked for.
final class LosingTransport: Transport {
  private struct State {
    var paths: [String]
    var lost = 0
  }

  private let inner = URLSessionTransport()
  private let breaks: Bool
  private let state: Mutex<State>

  /// How many answers were lost.
  var lost: Int { state.withLock(\.lost) }

  /// - Parameter parts: of paths.
  init(losesFirstOf parts: String...) {
    breaks = false
    state = Mutex(State(paths: parts))
  }

  /// The same, but passes on the head and the first piece of the body.
  init(breaksFirstOf parts: String...) {
    breaks = true
    state = Mutex(State(paths: parts))
  }

  func stream(_ request: HTTPRequest, progress: (@Sendable (Int64) -> Void)?) async throws -> HTTPStream {
    let stream = try await inner.stream(request, progress: progress)
    guard request.method != "GET", isLost(request.url.path) else { return stream }
    guard breaks else {
      for try await _ in stream.body {}
      throw NoAnswer("lost")
    }
    let (body, pieces) = AsyncThrowingStream<Data, any Error>.makeStream()
    for try await piece in stream.body {
      pieces.yield(piece)
      break
    }
    pieces.finish(throwing: NoAnswer("broken"))
    return HTTPStream(head: stream.head, body: body)
  }

  private func isLost(_ path: String) -> Bool {
    state.withLock { state in
      guard let index = state.paths.firstIndex(where: { path.contains($0) }) else { return false }
      state.paths.remove(at: index)
      state.lost += 1
      return true
    }
  }
}
