import Foundation
import Wire

/// How a task comes again. The series runs by the clocks of where it was set up: whoever moves one of its tasks moves that
/// one, and the next comes when it would have come.
struct Recurrence: Sendable, Hashable, Codable {
  enum Pattern: String, Sendable, Codable, CaseIterable {
    case daily, weekly, monthly, yearly
  }

  var isOn = false
  var pattern: Pattern?
  /// Of every how many days, weeks, months or years it is one.
  var interval: Int?
  /// Weekly: days of the week, 0 and 7 for Sunday. Monthly: days of the month.
  var days: [Int]?
  /// None comes after it.
  var lastDay: CalendarDay?
  /// How many there are in all.
  var count: Int?

  /// The first task of the series; nil for that one.
  var template: Int?
  /// The day of this one in the series, wherever it has been moved.
  var day: CalendarDay?
  /// 1 for the first one.
  var number: Int?
  /// The time from which the series is counted: a month that lacks its day does not change it.
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

  /// One of the series.
  struct Occurrence: Sendable, Hashable {
    let day: CalendarDay
    let time: Date
  }

  /// The one after the present one that is still to come at `now`; nil when the series is over.
  func next(at now: Date) -> Occurrence? {
    guard isOn, let pattern, let start, let day, number ?? 1 < count ?? .max else { return nil }
    let (zone, first) = (timeZone, CalendarDay(start, in: timeZone))
    let seconds = start.secondsOfDay(in: zone)
    var latest = max(day, CalendarDay(number: CalendarDay(now, in: zone).number - 1) ?? day)
    // Of today it may be over, and of tomorrow where midnight is skipped; not of the one after that.
    for _ in 0..<3 {
      guard let next = Self.next(pattern, every: interval ?? 1, on: days, from: first, after: latest),
        next <= lastDay ?? next
      else { return nil }
      let time = next.at(seconds, in: zone)
      guard Instant.storable.contains(time) else { return nil }
      if time > now { return Occurrence(day: next, time: time) }
      latest = next
    }
    return nil
  }

  /// A time that belongs to the present one, as long before or after the next one by the clock.
  func moved(_ time: Date, to next: Occurrence) -> Date? {
    let day = self.day ?? next.day
    return CalendarDay(time, in: timeZone).adding(next.day.number - day.number)?
      .at(time.secondsOfDay(in: timeZone), in: timeZone)
  }

  /// From now on the series is counted from the time of the present one.
  mutating func begin(at time: Date) {
    start = time.wholeMilliseconds
    day = CalendarDay(time, in: timeZone)
    number = number ?? 1
  }

  /// The one that follows.
  func following(_ task: Int, at next: Occurrence) -> Recurrence {
    var recurrence = self
    recurrence.template = template ?? task
    recurrence.day = next.day
    recurrence.number = (number ?? 1) + 1
    return recurrence
  }

  private var timeZone: TimeZone { zone.flatMap { TimeZone(identifier: $0) } ?? .gmt }
}

/// The days of a pattern. Years of them are skipped at once, so it takes no longer for who comes back late.
extension Recurrence {
  static func next(
    _ pattern: Pattern, every interval: Int, on days: [Int]?, from first: CalendarDay, after latest: CalendarDay
  ) -> CalendarDay? {
    let passed = latest.number - first.number
    switch pattern {
    case .daily: return first.adding(passed < 0 ? 0 : (passed / interval + 1) * interval)
    case .weekly:
      // Weeks begin on Monday.
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

  /// The first day after `latest`, and not before the first of all, in a step or one of the two that follow it.
  private static func search(
    from step: Int, _ first: CalendarDay, _ latest: CalendarDay, _ days: (Int) -> [CalendarDay?]
  ) -> CalendarDay? {
    for step in step...step + 2 {
      if let day = days(step).compactMap(\.self).filter({ $0 > latest && $0 >= first }).min() { return day }
    }
    return nil
  }
}
