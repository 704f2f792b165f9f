import Synchronization
import Wire

/// What the callers of a soak have asked for, and what was answered. The description of every operation is its label.
final class SoakLog: Sendable {
  /// What is known of an operation.
  enum Outcome: Hashable {
    /// An answer has said that it was posted, with this amount and perhaps this id.
    case posted(Int, id: String?)
    /// An answer has said that nothing was posted, and nothing may be.
    case refused
    /// The last answer was lost: it was posted with one of these amounts, or not.
    case unknown([Int])
  }

  struct Entry {
    let user: UserID
    var outcome: Outcome
  }

  private struct State {
    var count: Int
    var begun = 0
    var answered = 0
    var posted = 0
    var entries: [String: Entry] = [:]
    var faults: [String] = []
  }

  private let state: Mutex<State>

  /// - Parameter count: how many operations the callers ask for, unless they are stopped before.
  init(count: Int) { state = Mutex(State(count: count)) }

  /// The callers begin no other operation.
  func stop() { state.withLock { $0.count = $0.begun } }

  /// The label of the next operation; nil when there have been enough.
  func next() -> String? {
    state.withLock { state in
      guard state.begun < state.count else { return nil }
      state.begun += 1
      return "soak-\(state.begun)"
    }
  }

  func record(_ label: String, _ user: UserID, _ outcome: Outcome) {
    state.withLock { state in
      state.entries[label] = Entry(user: user, outcome: outcome)
      state.answered += 1
      if case .posted = outcome { state.posted += 1 }
    }
  }

  /// Records an answer that should not be.
  func fault(_ text: String) { state.withLock { $0.faults.append(text) } }

  var entries: [String: Entry] { state.withLock { $0.entries } }
  var faults: [String] { state.withLock { $0.faults } }
  var answered: Int { state.withLock { $0.answered } }
  /// How many operations were acknowledged as posted.
  var posted: Int { state.withLock { $0.posted } }
  var isFinished: Bool { state.withLock { $0.answered >= $0.count } }
}
