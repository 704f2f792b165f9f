import Foundation
import Hummingbird
import NIOCore
import ServiceLifecycle
import Synchronization
import Web

/// A server on loopback that records the requests it accepts, and fails on demand.
package final class RecordingServer: Sendable {
  /// How it responds.
  package enum Behavior: Sendable {
    case normal
    /// Responds with an error a number of times, then normally.
    case failing(Int)
    /// Reads the request and never responds.
    case hanging
  }

  private struct State {
    var behavior = Behavior.normal
    var accepted: [String] = []
    var requestCount = 0
  }

  private let state = Mutex(State())
  private let listening = ListeningPort()
  private let port: Int

  /// - Parameter port: 0 for any; a server that is restarted needs its previous port.
  package init(port: Int = 0) { self.port = port }

  package var behavior: Behavior {
    get { state.withLock { $0.behavior } }
    set { state.withLock { $0.behavior = newValue } }
  }

  package var accepted: [String] { state.withLock { $0.accepted } }
  package var requestCount: Int { state.withLock { $0.requestCount } }

  package var url: String {
    get async throws { "http://127.0.0.1:\(try await listening.number)/" }
  }

  private func record(_ text: String) -> Behavior {
    state.withLock { state in
      state.requestCount += 1
      let behavior = state.behavior
      switch behavior {
      case .normal: state.accepted.append(text)
      case .failing(let left): state.behavior = left > 1 ? .failing(left - 1) : .normal
      case .hanging: break
      }
      return behavior
    }
  }

  package func server() -> some ApplicationProtocol {
    let router = Router()
    router.post("/") { [self] request, _ -> Response in
      let text = String(buffer: try await request.body.collect(upTo: 1_000_000))
      switch record(text) {
      case .normal: return Response(status: .ok)
      case .failing: return Response(status: .internalServerError)
      case .hanging:
        try await cancelWhenGracefulShutdown { try await Task.sleep(for: .seconds(600)) }
        return Response(status: .ok)
      }
    }
    return loopbackServer(router, listening, port: port)
  }
}
