import Foundation
import Wire

/// A day of the Gregorian calendar from 1970 to 9999, without a time zone.
struct CalendarDay: Sendable, Hashable, Comparable, Codable {
  /// Days since 1970-01-01.
  let number: Int

  private static let numbers = 0...2_932_896
  private static let secondsMax = 86_400

  /// nil outside of 1970 to 9999.
  init?(number: Int) {
    guard Self.numbers.contains(number) else { return nil }
    self.number = number
  }

  /// Reads `2026-11-21`.
  init?(_ name: String) {
    guard name.utf8.count == 10, let midnight = RFC3339.parse("\(name)T00:00:00Z") else { return nil }
    self.init(number: Int(midnight.timeIntervalSince1970) / Self.secondsMax)
    // `2026-02-30` parses as a day of March.
    guard self.name == name else { return nil }
  }

  /// A day after the end of the month becomes its last day.
  init?(year: Int, month: Int, day: Int) {
    let lengths = [31, year.isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    guard (1970...9999).contains(year), (1...12).contains(month), day >= 1 else { return nil }
    let parts = [month, min(day, lengths[month - 1])].map { $0 < 10 ? "0\($0)" : "\($0)" }
    self.init("\(year)-\(parts[0])-\(parts[1])")
  }

  /// The day of `time` in `zone`, clamped to 1970 to 9999.
  init(_ time: Date, in zone: TimeZone) {
    let local = time.timeIntervalSince1970 + Double(zone.secondsFromGMT(for: time))
    let days = (local / Double(Self.secondsMax)).rounded(.down)
    number = Int(min(max(days, Double(Self.numbers.lowerBound)), Double(Self.numbers.upperBound)))
  }

  static func < (one: CalendarDay, other: CalendarDay) -> Bool { one.number < other.number }

  /// `2026-11-21`.
  var name: String { String(RFC3339.seconds(midnight).prefix(10)) }

  /// Year, month and day.
  var parts: (year: Int, month: Int, day: Int) {
    let parts = name.split(separator: "-").compactMap { Int($0) }
    return (parts[0], parts[1], parts[2])
  }

  /// 0 is Sunday.
  var weekday: Int { (number + 4) % 7 }

  func adding(_ days: Int) -> CalendarDay? { CalendarDay(number: number + days) }

  /// The time on this day at which the clocks of `zone` show `seconds` after midnight. A time that is skipped when
  /// clocks go forward is moved later by the length of the gap; of a time that occurs twice it is the first one.
  func at(_ seconds: Double, in zone: TimeZone) -> Date {
    let local = midnight + seconds
    let offsets = [-1, 1].map { zone.secondsFromGMT(for: local + Double($0 * Self.secondsMax)) }
    let times = offsets.map { (offset: $0, time: local - Double($0)) }
    let real = times.filter { zone.secondsFromGMT(for: $0.time) == $0.offset }.map(\.time)
    return real.min() ?? times[0].time
  }

  private var midnight: Date { Date(timeIntervalSince1970: Double(number * Self.secondsMax)) }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let day = CalendarDay(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "must be a day as 2026-11-21")
    }
    self = day
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(name)
  }
}

/// A day as the apps send it: as a day, or as a time on it.
enum DayOrTime: Sendable, Hashable {
  case day(CalendarDay)
  case time(Date)

  /// The day, for a time the day in `zone`.
  func day(in zone: TimeZone) -> CalendarDay {
    switch self {
    case .day(let day): day
    case .time(let time): CalendarDay(time, in: zone)
    }
  }
}

extension Date {
  /// The local time in `zone`, in seconds after midnight.
  func secondsOfDay(in zone: TimeZone) -> Double {
    let local = timeIntervalSince1970 + Double(zone.secondsFromGMT(for: self))
    return local - (local / 86_400).rounded(.down) * 86_400
  }
}

extension Int {
  fileprivate var isLeap: Bool { isMultiple(of: 4) && (!isMultiple(of: 100) || isMultiple(of: 400)) }
}
