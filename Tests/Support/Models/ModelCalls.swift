import Foundation
import ServiceLifecycle
import Synchronization
import Web
import Wire

/// What a fake provider of models was asked, and what it is to do instead of answering rightly.
package final class ModelCalls: Sendable {
  package struct Call: Sendable {
    /// The question, as ``SceneAnswers/step(required:)`` names it; `image` for a picture.
    package let step: String
    package let model: String
    package let isStream: Bool
    /// The whole body, as it came.
    package let text: String
    package let body: JSONValue
  }

  package enum Behavior: Sendable {
    /// Another status with this body.
    case answers(status: Int, body: String, headers: [String: String] = [:])
    /// A complete answer with this text.
    case writes(String)
    /// An answer that ends at the limit of its length.
    case isCutOff(String)
    case refuses
    /// A picture of these bytes.
    case paints(Data)
    /// An answer without a picture.
    case paintsNothing
    /// These bytes as the body of an event stream, one piece after the other.
    case streams([String])
    /// Breaks the connection in the middle of the body.
    case breaksOff
    /// Reads the request and never answers.
    case hangs
    /// Answers rightly once the gate is open.
    case waits(Gate)
    /// Obeys those who ask for the instructions: some of them are where the answer has a text.
    case leaks
  }

  private struct State {
    var calls: [Call] = []
    var behaviors: [String: [Behavior]] = [:]
  }

  private let state = Mutex(State())

  package init() {}

  package var all: [Call] { state.withLock { $0.calls } }
  package var steps: [String] { all.map(\.step) }

  package func count(_ step: String) -> Int { all.count { $0.step == step } }

  /// Sets the behavior of the next `times` questions of a kind.
  package func next(_ behavior: Behavior, for step: String, times: Int = 1) {
    state.withLock { $0.behaviors[step, default: []] += Array(repeating: behavior, count: times) }
  }

  /// Records a call, and takes the behavior that is set for it.
  func record(_ call: Call) -> Behavior? {
    state.withLock { state in
      state.calls.append(call)
      guard state.behaviors[call.step]?.isEmpty == false else { return nil }
      return state.behaviors[call.step]?.removeFirst()
    }
  }
}

/// Holds answers back until it is opened.
package final class Gate: Sendable {
  private let opened = ChangeSignal()

  package init() {}

  package func open() { opened.send() }

  /// Also returns when the fake provider is stopped.
  func passed() async { await cancelWhenGracefulShutdown { await self.opened.wait(after: 0) } }
}
