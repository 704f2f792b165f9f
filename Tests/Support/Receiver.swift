import Foundation
import Hummingbird
import NIOCore
import ServiceLifecycle
import Synchronization
import Web

/// A server on loopback to which a worker posts: it remembers what it accepted, and fails as it is told.
package final class Receiver: Sendable {
  package enum Mood: Sendable {
    case well
    /// Answers with a failure that often.
    case failing(Int)
    /// Takes the request and never answers.
    case hanging
  }

  private struct State {
    var mood = Mood.well
    var accepted: [String] = []
    var asked = 0
  }

  private let state = Mutex(State())
  private let listening = Listening()
  private let port: Int

  /// - Parameter port: 0 takes any; a receiver that comes back needs the one it had.
  package init(port: Int = 0) { self.port = port }

  package var mood: Mood {
    get { state.withLock { $0.mood } }
    set { state.withLock { $0.mood = newValue } }
  }

  package var accepted: [String] { state.withLock { $0.accepted } }
  package var asked: Int { state.withLock { $0.asked } }

  package var url: String {
    get async throws { "http://127.0.0.1:\(try await listening.number)/" }
  }

  private func answers(_ text: String) -> Mood {
    state.withLock { state in
      state.asked += 1
      let mood = state.mood
      switch mood {
      case .well: state.accepted.append(text)
      case .failing(let left): state.mood = left > 1 ? .failing(left - 1) : .well
      case .hanging: break
      }
      return mood
    }
  }

  package func server() -> some ApplicationProtocol {
    let router = Router()
    router.post("/") { [self] request, _ -> Response in
      let text = String(buffer: try await request.body.collect(upTo: 1_000_000))
      switch answers(text) {
      case .well: return Response(status: .ok)
      case .failing: return Response(status: .internalServerError)
      case .hanging:
        try await cancelWhenGracefulShutdown { try await Task.sleep(for: .seconds(600)) }
        return Response(status: .ok)
      }
    }
    return Application(
      router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)),
      onServerRunning: { [listening] channel in listening.opened(on: channel.localAddress?.port ?? 0) },
      logger: quiet)
  }
}
