import Foundation
import Wire

/// The order of tasks that lie beside each other, and how some of them move in it.
///
/// Positions are fractions with a fixed point: whole numbers far apart, so that a task moves between two others by
/// getting a number between theirs, and nobody else moves. Only where two have become neighbours all are spread anew.
struct TaskOrder: Sendable {
  struct Item: Sendable, Hashable {
    let id: Int
    var position: Int
  }

  /// Where somebody wants a task to be.
  enum Place: Sendable, Hashable {
    /// At a position, or right behind who has it already.
    case at(Double)
    /// Behind a task; behind none is at the front.
    case after(Int?)
    case before(Int)
  }

  struct Move: Sendable, Hashable {
    let id: Int
    let place: Place
    /// The version of the task that the move is meant for; nil: whichever it is.
    var version: Int?
  }

  /// As it is now, in order.
  let items: [Item]
  private static let step = TaskStore.positionStep
  /// Far from where sums could overflow, and exact in every client's numbers.
  static let positionMax = 1 << 50
  fileprivate static let positions = -positionMax...positionMax

  /// What has another position after the moves.
  ///
  /// - Throws: 422 for a task that is not among them.
  func changes(_ moves: [Move]) throws(Failure) -> [Item] {
    let now = items.reduce(into: [Int: Int]()) { $0[$1.id] = $1.position }
    return try positions(after: moves).filter { now[$0.id] != $0.position }
  }

  /// Everything in its new order.
  private func positions(after moves: [Move]) throws(Failure) -> [Item] {
    let moved = Set(moves.map(\.id))
    guard moved.isSubset(of: items.map(\.id)), moved.count == moves.count else { throw .notInThisOrder }
    var slots = items.filter { !moved.contains($0.id) }.map {
      Slot(id: $0.id, key: Double($0.position), fixed: $0.position)
    }
    slots = Self.merged(slots, moves.compactMap(\.slot))
    for move in moves where !move.isToPosition {
      guard let index = index(of: move.place, in: slots) else { throw .notInThisOrder }
      slots.insert(Slot(id: move.id, key: nil, fixed: nil), at: index)
    }
    return Self.numbered(slots)
  }

  /// A task in the new order; one that moves has no fixed position.
  fileprivate struct Slot {
    let id: Int
    /// The position that it has, or was asked for.
    let key: Double?
    let fixed: Int?
  }

  /// Each behind everything up to its position; several that ask for the same one stay as they were asked for.
  private static func merged(_ slots: [Slot], _ asked: [Slot]) -> [Slot] {
    let sorted = asked.enumerated().sorted { ($0.element.key ?? 0, $0.offset) < ($1.element.key ?? 0, $1.offset) }
    var (merged, next) = ([Slot](), sorted.makeIterator())
    merged.reserveCapacity(slots.count + asked.count)
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

  private func index(of place: Place, in slots: [Slot]) -> Int? {
    switch place {
    case .at: nil
    case .after(nil): 0
    case .after(let id?): slots.firstIndex { $0.id == id }.map { $0 + 1 }
    case .before(let id): slots.firstIndex { $0.id == id }
    }
  }

  /// Numbers for those without one, between their neighbours; all anew where there is no room.
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

  /// What was asked for where that is in order, else as far apart as there is room; nil when there is none.
  private static func numbers(for run: ArraySlice<Slot>, between left: Int?, and right: Int?) -> [Int]? {
    let asked = run.compactMap { $0.key.flatMap { Int(exactly: $0) } }
    let bounded = ([left].compactMap(\.self) + asked + [right].compactMap(\.self))
    if asked.count == run.count, zip(bounded, bounded.dropFirst()).allSatisfy({ $0 < $1 }) { return asked }
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

  /// nil for what goes beside another.
  fileprivate var slot: TaskOrder.Slot? {
    if case .at(let position) = place { .init(id: id, key: position, fixed: nil) } else { nil }
  }

  /// What an object of a body asks for; nil when it is not in order.
  init?(id: Int, _ fields: [String: JSONValue]) {
    self.id = id
    switch fields["version"] {
    case nil: version = nil
    case .integer(let seen)?: version = seen
    default: return nil
    }
    switch (fields["position"], fields["after_id"], fields["before_id"]) {
    case (.integer(let position)?, _, _) where TaskOrder.positions.contains(position): place = .at(Double(position))
    case (.number(let position)?, _, _) where abs(position) <= Double(TaskOrder.positionMax): place = .at(position)
    case (nil, .integer(let other)?, _) where other != id: place = .after(other)
    case (nil, .null?, _): place = .after(nil)
    case (nil, nil, .integer(let other)?) where other != id: place = .before(other)
    default: return nil
    }
  }
}

extension Failure {
  static let notInThisOrder = Failure.invalid(.init("tasks", "must each be given once, and lie beside each other"))
}
