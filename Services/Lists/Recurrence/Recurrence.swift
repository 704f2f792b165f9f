import Foundation
import Wire

/// The rule by which a task recurs, and the place of the task in its series. Occurrences are computed in the time zone
/// in which the series was created; rescheduling one task of the series does not move the following ones.
struct Recurrence: Sendable, Hashable, Codable {
  enum Pattern: String, Sendable, Codable, CaseIterable {
    case daily, weekly, monthly, yearly
  }

  var isOn = false
  var pattern: Pattern?
  /// Every how many days, weeks, months or years.
  var interval: Int?
  /// Weekly: days of the week, 0 and 7 for Sunday. Monthly: days of the month.
  var days: [Int]?
  /// The last day on which the task may recur.
  var lastDay: CalendarDay?
  /// The number of tasks in the series.
  var count: Int?

  /// The ID of the first task of the series; nil for that task itself.
  var template: Int?
  /// The day of this task in the series, regardless of reschedules.
  var day: CalendarDay?
  /// The number of this task in the series, from 1.
  var number: Int?
  /// The start of the series, from which all occurrences are computed, so that a short month does not shift later ones.
  var start: Date?
  /// An IANA name.
  var zone: String?

  private enum CodingKeys: String, CodingKey {
    case isOn = "is_recurring"
    case pattern = "recurrence_pattern"
    case interval = "recurrence_interval"
    case days = "recurrence_days"
    case lastDay = "recurrence_end_date"
    case count = "recurrence_count"
    case template = "template_id"
    case day = "instance_date"
    case number = "instance_number"
    case start = "starts_at"
    case zone = "timezone"
  }

  static let intervals = 1...1000
  static let counts = 1...10_000
  static let dayNumbers = 0...31

  /// An occurrence of the series.
  struct Occurrence: Sendable, Hashable {
    let day: CalendarDay
    let time: Date
  }

  /// The first occurrence after the current one that is later than `now`; nil when the series has ended.
  func next(at now: Date) -> Occurrence? {
    guard isOn, let pattern, let start, let day, number ?? 1 < count ?? .max else { return nil }
    let (zone, first) = (timeZone, CalendarDay(start, in: timeZone))
    let seconds = start.secondsOfDay(in: zone)
    var latest = max(day, CalendarDay(number: CalendarDay(now, in: zone).number - 1) ?? day)
    // Today's occurrence may be past, and tomorrow's too, in a zone that skips midnight; the one after that is not.
    for _ in 0..<3 {
      guard let next = Self.next(pattern, every: interval ?? 1, on: days, from: first, after: latest),
        next <= lastDay ?? next
      else { return nil }
      let time = next.at(seconds, in: zone)
      guard RFC3339.storable.contains(time) else { return nil }
      if time > now { return Occurrence(day: next, time: time) }
      latest = next
    }
    return nil
  }

  /// A local time relative to the current occurrence, moved to the same distance from the next one.
  func moved(_ time: Date, to next: Occurrence) -> Date? {
    let day = self.day ?? next.day
    return CalendarDay(time, in: timeZone).adding(next.day.number - day.number)?
      .at(time.secondsOfDay(in: timeZone), in: timeZone)
  }

  /// Makes `time` the start from which the series is computed.
  mutating func begin(at time: Date) {
    start = time.wholeMilliseconds
    day = CalendarDay(time, in: timeZone)
    number = number ?? 1
  }

  /// The recurrence of the task that follows `task`.
  func advanced(after task: Int, to next: Occurrence) -> Recurrence {
    var recurrence = self
    recurrence.template = template ?? task
    recurrence.day = next.day
    recurrence.number = (number ?? 1) + 1
    return recurrence
  }

  private var timeZone: TimeZone { zone.flatMap { TimeZone(identifier: $0) } ?? .gmt }
}

/// The days of a pattern. Past periods are skipped by division, so that the cost does not depend on how many have
/// passed.
extension Recurrence {
  static func next(
    _ pattern: Pattern, every interval: Int, on days: [Int]?, from first: CalendarDay, after latest: CalendarDay
  ) -> CalendarDay? {
    let passed = latest.number - first.number
    switch pattern {
    case .daily: return first.adding(passed < 0 ? 0 : (passed / interval + 1) * interval)
    case .weekly:
      // Weeks start on Monday.
      let monday = first.number - (first.weekday + 6) % 7
      let weekdays = Set((days ?? [first.weekday]).map { ($0 + 6) % 7 }).sorted()
      return search(from: max(0, latest.number - monday) / (7 * interval), first, latest) { week in
        weekdays.map { CalendarDay(number: monday + week * 7 * interval + $0) }
      }
    case .monthly: return months(every: interval, on: days ?? [first.parts.day], first, latest)
    case .yearly: return months(every: 12 * interval, on: [first.parts.day], first, latest)
    }
  }

  private static func months(
    every interval: Int, on days: [Int], _ first: CalendarDay, _ latest: CalendarDay
  ) -> CalendarDay? {
    let (start, end) = (first.parts, latest.parts)
    let passed = (end.year - start.year) * 12 + end.month - start.month
    return search(from: max(0, passed) / interval, first, latest) { step in
      let month = start.month - 1 + step * interval
      return days.map { CalendarDay(year: start.year + month / 12, month: month % 12 + 1, day: $0) }
    }
  }

  /// The first day after `latest`, and not before `first`, in the period `step` or one of the next two.
  private static func search(
    from step: Int, _ first: CalendarDay, _ latest: CalendarDay, _ days: (Int) -> [CalendarDay?]
  ) -> CalendarDay? {
    for step in step...step + 2 {
      if let day = days(step).compactMap(\.self).filter({ $0 > latest && $0 >= first }).min() { return day }
    }
    return nil
  }
}
