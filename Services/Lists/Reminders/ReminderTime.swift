import Foundation

/// When somebody is reminded of a task: an hour before it is due, and of one that is due at the end of a day at nine in
/// the morning of that day. Days are those of the time zone of the list, which is its owner's.
enum ReminderTime {
  /// Before a task is due, its reminder is considered for the first time: earlier than any reminder comes, so that the
  /// time zone need not be known when the task is written.
  static let leadSeconds = 16 * 3600.0

  private static let nine = 9 * 3600.0
  private static let endOfDaySeconds = 60.0

  static func time(dueAt: Date, in zone: TimeZone) -> Date {
    guard isEndOfDay(dueAt, in: zone) else { return dueAt - 3600 }
    return CalendarDay(dueAt - endOfDaySeconds, in: zone).at(nine, in: zone)
  }

  /// Whether it is midnight or the minute before, as apps write a day without a time.
  static func isEndOfDay(_ time: Date, in zone: TimeZone) -> Bool {
    let seconds = time.secondsOfDay(in: zone)
    return seconds == 0 || seconds >= 86_400 - endOfDaySeconds
  }
}

extension ListTask {
  /// When its reminder is considered for the first time; nil for a task of which nobody is to be reminded.
  func reminderCheck(at now: Date) -> Date? {
    guard let dueAt, dueAt > now, !isDone, deletedAt == nil else { return nil }
    return dueAt - ReminderTime.leadSeconds
  }
}
