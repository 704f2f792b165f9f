import Foundation
import Wire

/// The order of sibling tasks, and the positions that result from moving some of them.
///
/// Positions are integers with large gaps, so that a task is moved between two others by a number between theirs, and
/// the others keep their positions. Only where a gap is used up are all positions reassigned.
struct TaskOrder: Sendable {
  struct Item: Sendable, Hashable {
    let id: Int
    var position: Int
  }

  /// The destination of a moved task.
  enum Destination: Sendable, Hashable {
    /// At a position, or directly behind the task that already has it.
    case at(Double)
    /// Behind a task; nil is the front.
    case after(Int?)
    case before(Int)
  }

  struct Move: Sendable, Hashable {
    let id: Int
    let destination: Destination
    /// The version of the task to which the move applies; nil for any version.
    var version: Int?
  }

  /// The current order.
  let items: [Item]
  private static let step = TaskStore.positionStep
  /// Small enough that sums cannot overflow, and that clients can represent it as a double exactly.
  static let positionMax = 1 << 50
  fileprivate static let positions = -positionMax...positionMax

  /// The tasks whose positions change.
  ///
  /// - Throws: 422 for a task that is not in this order.
  func changes(_ moves: [Move]) throws(Failure) -> [Item] {
    let now = items.reduce(into: [Int: Int]()) { $0[$1.id] = $1.position }
    return try positions(after: moves).filter { now[$0.id] != $0.position }
  }

  /// All tasks in their new order.
  private func positions(after moves: [Move]) throws(Failure) -> [Item] {
    let moved = Set(moves.map(\.id))
    guard moved.isSubset(of: items.map(\.id)), moved.count == moves.count else { throw .notInThisOrder }
    var slots = items.filter { !moved.contains($0.id) }.map {
      Slot(id: $0.id, key: Double($0.position), fixed: $0.position)
    }
    slots = Self.merged(slots, moves.compactMap(\.slot))
    for move in moves where !move.isToPosition {
      guard let index = index(of: move.destination, in: slots) else { throw .notInThisOrder }
      slots.insert(Slot(id: move.id, key: nil, fixed: nil), at: index)
    }
    return Self.numbered(slots)
  }

  /// A task in the new order. A moved task has no fixed position.
  fileprivate struct Slot {
    let id: Int
    /// The current or the requested position.
    let key: Double?
    let fixed: Int?
  }

  /// Inserts each moved task behind all tasks up to its position; tasks with the same requested position keep the order
  /// of the request.
  private static func merged(_ slots: [Slot], _ requested: [Slot]) -> [Slot] {
    let sorted = requested.enumerated().sorted { ($0.element.key ?? 0, $0.offset) < ($1.element.key ?? 0, $1.offset) }
    var (merged, next) = ([Slot](), sorted.makeIterator())
    merged.reserveCapacity(slots.count + requested.count)
    var waiting = next.next()?.element
    for slot in slots {
      while let moved = waiting, moved.key ?? 0 < slot.key ?? 0 {
        merged.append(moved)
        waiting = next.next()?.element
      }
      merged.append(slot)
    }
    while let moved = waiting {
      merged.append(moved)
      waiting = next.next()?.element
    }
    return merged
  }

  private func index(of destination: Destination, in slots: [Slot]) -> Int? {
    switch destination {
    case .at: nil
    case .after(nil): 0
    case .after(let id?): slots.firstIndex { $0.id == id }.map { $0 + 1 }
    case .before(let id): slots.firstIndex { $0.id == id }
    }
  }

  /// Assigns positions between their neighbours to tasks without one; reassigns all where a gap is used up.
  private static func numbered(_ slots: [Slot]) -> [Item] {
    var items: [Item] = []
    var start = 0
    while start < slots.count {
      if let fixed = slots[start].fixed {
        items.append(Item(id: slots[start].id, position: fixed))
        start += 1
        continue
      }
      let end = slots[start...].firstIndex { $0.fixed != nil } ?? slots.count
      let right = end < slots.count ? slots[end].fixed : nil
      guard let run = numbers(for: slots[start..<end], between: items.last?.position, and: right) else {
        return slots.enumerated().map { Item(id: $1.id, position: ($0 + 1) * step) }
      }
      items += zip(slots[start..<end], run).map { Item(id: $0.id, position: $1) }
      start = end
    }
    return items
  }

  /// The requested positions where these are in order, else evenly spaced ones; nil when the gap is too small.
  private static func numbers(for run: ArraySlice<Slot>, between left: Int?, and right: Int?) -> [Int]? {
    let requested = run.compactMap { $0.key.flatMap { Int(exactly: $0) } }
    let bounded = ([left].compactMap(\.self) + requested + [right].compactMap(\.self))
    if requested.count == run.count, zip(bounded, bounded.dropFirst()).allSatisfy({ $0 < $1 }) { return requested }
    let count = run.count
    switch (left, right) {
    case (nil, nil): return (1...count).map { $0 * step }
    case (let left?, nil): return left > positionMax ? nil : (1...count).map { left + $0 * step }
    case (nil, let right?): return right < -positionMax ? nil : (0..<count).map { right - (count - $0) * step }
    case (let left?, let right?):
      let gap = (right - left) / (count + 1)
      return gap > 0 ? (1...count).map { left + $0 * gap } : nil
    }
  }
}

extension TaskOrder.Move {
  fileprivate var isToPosition: Bool { slot != nil }

  /// nil for a move relative to another task.
  fileprivate var slot: TaskOrder.Slot? {
    if case .at(let position) = destination { .init(id: id, key: position, fixed: nil) } else { nil }
  }

  /// Parses a move from a JSON object; nil when it is invalid.
  init?(id: Int, _ fields: [String: JSONValue]) {
    self.id = id
    switch fields["version"] {
    case nil: version = nil
    case .integer(let seen)?: version = seen
    default: return nil
    }
    switch (fields["position"], fields["after_id"], fields["before_id"]) {
    case (.integer(let position)?, _, _) where TaskOrder.positions.contains(position):
      destination = .at(Double(position))
    case (.number(let position)?, _, _) where abs(position) <= Double(TaskOrder.positionMax):
      destination = .at(position)
    case (nil, .integer(let other)?, _) where other != id: destination = .after(other)
    case (nil, .null?, _): destination = .after(nil)
    case (nil, nil, .integer(let other)?) where other != id: destination = .before(other)
    default: return nil
    }
  }
}

extension Failure {
  static let notInThisOrder = Failure.invalid(.init("tasks", "must each be given once, and lie beside each other"))
}
