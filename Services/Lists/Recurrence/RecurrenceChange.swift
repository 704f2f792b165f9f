import Foundation
import Wire

/// What a body says about how a task comes again.
struct RecurrenceChange: Sendable {
  private let isOn: Given<Bool>
  private let pattern: Given<String>
  private let interval: Given<Int>
  private let days: Given<[Int]>
  private let lastDay: Given<DayOrTime>
  private let count: Given<Int>

  init(_ fields: inout Fields) {
    isOn = fields.flag("is_recurring")
    pattern = fields.choice("recurrence_pattern", Recurrence.Pattern.allCases.map(\.rawValue), orNull: true)
    interval = fields.number("recurrence_interval", Recurrence.intervals, orNull: true)
    days = fields.numbers("recurrence_days", Recurrence.dayNumbers)
    lastDay = fields.day("recurrence_end_date")
    count = fields.number("recurrence_count", Recurrence.counts, orNull: true)
  }

  var isGiven: Bool {
    isOn.isGiven || pattern.isGiven || interval.isGiven || days.isGiven || lastDay.isGiven || count.isGiven
  }

  /// The series with the change, counted anew from the due date where that or the pattern is another.
  ///
  /// - Parameter moved: whether the same body moves the due date.
  /// - Throws: 422 that names every member that does not fit the others.
  func applied(
    to old: Recurrence?, dueAt: Date?, moved: Bool, isPart: Bool, by doer: Doer, at now: Date
  ) throws(Failure) -> Recurrence? {
    guard isGiven else { return old }
    var new = old ?? Recurrence()
    new.pattern = pattern.or(new.pattern?.rawValue).flatMap(Recurrence.Pattern.init)
    // Who names a pattern and nothing else wants it.
    new.isOn = isOn.value ?? (pattern.isGiven ? new.pattern != nil : new.isOn)
    new.interval = interval.or(new.interval)
    new.days = days.or(new.days)
    new.count = count.or(new.count)
    switch lastDay {
    case .nothing: break
    case .null: new.lastDay = nil
    case .value(let day): new.lastDay = day.day(in: doer.zone)
    }
    let errors = new.errors(isPart: isPart)
    guard errors.isEmpty else { throw .invalid(errors) }
    guard new != Recurrence() else { return nil }
    if new.isOn, moved || !(old?.hasSameDays(as: new) ?? false) {
      new.zone = doer.zone.identifier
      new.begin(at: dueAt ?? CalendarDay(now, in: doer.zone).at(0, in: doer.zone))
    }
    return new
  }
}

extension Recurrence {
  fileprivate func hasSameDays(as other: Recurrence) -> Bool {
    isOn == other.isOn && pattern == other.pattern && interval ?? 1 == other.interval ?? 1 && days == other.days
  }

  /// What does not fit.
  fileprivate func errors(isPart: Bool) -> [Failure.Field] {
    var errors: [Failure.Field] = []
    if isOn, isPart { errors.append(.init("is_recurring", "is for tasks, not for sub-tasks")) }
    if isOn, pattern == nil { errors.append(.init("recurrence_pattern", "is required for what is recurring")) }
    if pattern == .weekly, let days, !days.allSatisfy((0...7).contains) {
      errors.append(.init("recurrence_days", "must be days of the week from 0 (Sunday) to 6"))
    }
    if pattern == .monthly, let days, !days.allSatisfy((1...31).contains) {
      errors.append(.init("recurrence_days", "must be days of the month from 1 to 31"))
    }
    return errors
  }
}
