import Foundation
import Wire

/// Credits that are reserved for work that takes long, until they are captured, released, or the hold expires.
struct CreditHold: Sendable {
  let id: HoldID
  let user: UserID
  let cost: Int
  /// Of the operation that captures it.
  let type: OperationType
  var description: String?
  var referenceID: String?
  var referenceType: String?
  let caller: String
  /// The key under which the caller may repeat the request.
  var idempotencyKey: String?
  let at: Date
  let expiresAt: Date
}

typealias HoldID = ID<CreditHold>

/// The state of a hold, which changes once.
enum HoldState: String, Sendable {
  case open, captured, released, expired
}

/// What was answered when the hold was made, and is again when the request is repeated.
struct OpenedHold: Sendable, Hashable {
  let id: HoldID
  let cost: Int
  let expiresAt: Date
  let balance: Int
  let held: Int
  var isRepeated = false
}

/// How a hold ends.
enum HoldSettlement: Sendable, Hashable {
  /// nil captures all of it; of a part the rest is given back.
  case capture(Int?)
  case release
  /// Of a hold that nobody has settled in time.
  case expire

  var state: HoldState {
    switch self {
    case .capture: .captured
    case .release: .released
    case .expire: .expired
    }
  }

  /// What is captured of a hold.
  func captured(of cost: Int) -> Int {
    switch self {
    case .capture(let amount): amount ?? cost
    case .release, .expire: 0
    }
  }
}

/// A hold that was settled, by this call or by an earlier one of the same kind.
struct SettledHold: Sendable, Hashable {
  let id: HoldID
  let state: HoldState
  let balance: Int
  var isRepeated = false
}

extension Failure {
  static let holdNotFound = Failure(.notFound, "hold_not_found", "There is no such hold.")
  static let holdExpired = Failure(.conflict, "hold_expired", "This hold is over: its credits were given back.")

  static func holdSettled(_ state: HoldState) -> Failure {
    Failure(.conflict, "hold_\(state.rawValue)", "This hold is \(state.rawValue) already.")
  }
}
