import Foundation
import Wire

/// The recurrence fields of a request that creates or changes a task.
struct RecurrenceChange: Sendable {
  private let isOn: FieldValue<Bool>
  private let pattern: FieldValue<String>
  private let interval: FieldValue<Int>
  private let days: FieldValue<[Int]>
  private let lastDay: FieldValue<DayOrTime>
  private let count: FieldValue<Int>

  init(_ fields: inout RequestFields) {
    isOn = fields.flag("is_recurring")
    pattern = fields.choice("recurrence_pattern", Recurrence.Pattern.allCases.map(\.rawValue), orNull: true)
    interval = fields.number("recurrence_interval", Recurrence.intervals, orNull: true)
    days = fields.numbers("recurrence_days", Recurrence.dayNumbers)
    lastDay = fields.day("recurrence_end_date")
    count = fields.number("recurrence_count", Recurrence.counts, orNull: true)
  }

  var isPresent: Bool {
    isOn.isPresent || pattern.isPresent || interval.isPresent || days.isPresent || lastDay.isPresent || count.isPresent
  }

  /// The recurrence with the change. The series is restarted from the due date when that or the pattern changes.
  ///
  /// - Parameters:
  ///   - moved: whether the same request changes the due date.
  ///   - isSubtask: whether the task is a sub-task.
  /// - Throws: 422 that names every field that conflicts with the others.
  func applied(
    to old: Recurrence?, dueAt: Date?, moved: Bool, isSubtask: Bool, by actingUser: ActingUser, at now: Date
  ) throws(Failure) -> Recurrence? {
    guard isPresent else { return old }
    var new = old ?? Recurrence()
    new.pattern = pattern.applied(to: new.pattern?.rawValue).flatMap(Recurrence.Pattern.init)
    // A pattern without `is_recurring` switches recurrence on.
    new.isOn = isOn.value ?? (pattern.isPresent ? new.pattern != nil : new.isOn)
    new.interval = interval.applied(to: new.interval)
    new.days = days.applied(to: new.days)
    new.count = count.applied(to: new.count)
    switch lastDay {
    case .absent: break
    case .null: new.lastDay = nil
    case .value(let day): new.lastDay = day.day(in: actingUser.timeZone)
    }
    let errors = new.errors(isSubtask: isSubtask)
    guard errors.isEmpty else { throw .invalid(errors) }
    guard new != Recurrence() else { return nil }
    if new.isOn, moved || !(old?.hasSameDays(as: new) ?? false) {
      new.zone = actingUser.timeZone.identifier
      new.begin(at: dueAt ?? CalendarDay(now, in: actingUser.timeZone).at(0, in: actingUser.timeZone))
    }
    return new
  }
}

extension Recurrence {
  fileprivate func hasSameDays(as other: Recurrence) -> Bool {
    isOn == other.isOn && pattern == other.pattern && interval ?? 1 == other.interval ?? 1 && days == other.days
  }

  /// The fields that conflict.
  fileprivate func errors(isSubtask: Bool) -> [Failure.Field] {
    var errors: [Failure.Field] = []
    if isOn, isSubtask { errors.append(.init("is_recurring", "is for tasks, not for sub-tasks")) }
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
