/// A unit of a jump in time. The raw values are those of the app.
enum TimeUnit: String, CaseIterable, Codable, Sendable {
  case second, minute, hour, day, week, month, year
}

enum JumpDirection: String, CaseIterable, Codable, Sendable {
  case next, prior
}

/// A time in the proleptic Gregorian calendar, as precise as it is known. Before the year 1 comes the year -1.
struct HistoricalDate: Codable, Hashable, Sendable {
  /// Years that a jump may reach; further ones keep the year at the limit.
  static let years = -999_999...999_999
  private static let unitsMax = 1_000_000_000

  /// Negative before our era. Never 0.
  let year: Int
  var month: Int?
  var day: Int?
  var hour: Int?
  var minute: Int?
  var second: Int?

  init(
    year: Int, month: Int? = nil, day: Int? = nil, hour: Int? = nil, minute: Int? = nil, second: Int? = nil
  ) {
    let year = min(max(year, Self.years.lowerBound), Self.years.upperBound)
    self.year = year == 0 ? 1 : year
    self.month = month.map { min(max($0, 1), 12) }
    self.day = day.map { min(max($0, 1), Self.length(ofMonth: self.month ?? 1, in: Self.count(ofYear: self.year))) }
    self.hour = hour.map { min(max($0, 0), 23) }
    self.minute = minute.map { min(max($0, 0), 59) }
    self.second = second.map { min(max($0, 0), 59) }
  }
}

extension HistoricalDate {
  /// The date so many units later; earlier for a negative count. A day that the month does not have becomes its last.
  /// What the date leaves open counts as its beginning (January, the 1st, 0:00), and stays open when the unit is longer.
  func moved(by count: Int, _ unit: TimeUnit) -> HistoricalDate {
    let units = min(max(count, -Self.unitsMax), Self.unitsMax)
    return switch unit {
    case .year: movedByMonths(units * 12, keepsMonthOpen: true)
    case .month: movedByMonths(units, keepsMonthOpen: false)
    case .week: movedBySeconds(units * 7 * 86_400, precision: .day)
    case .day: movedBySeconds(units * 86_400, precision: .day)
    case .hour: movedBySeconds(units * 3600, precision: .hour)
    case .minute: movedBySeconds(units * 60, precision: .minute)
    case .second: movedBySeconds(units, precision: .second)
    }
  }

  private func movedByMonths(_ count: Int, keepsMonthOpen: Bool) -> HistoricalDate {
    let months = Self.count(ofYear: year) * 12 + (month ?? 1) - 1 + count
    let (newYear, newMonth) = (Self.floored(months, 12), Self.modulo(months, 12) + 1)
    return HistoricalDate(
      year: Self.year(ofCount: newYear), month: keepsMonthOpen && month == nil ? nil : newMonth, day: day,
      hour: hour, minute: minute, second: second)
  }

  private enum Precision: Int { case day, hour, minute, second }

  private func movedBySeconds(_ count: Int, precision: Precision) -> HistoricalDate {
    let ofDay = (hour ?? 0) * 3600 + (minute ?? 0) * 60 + (second ?? 0)
    let days = Self.days(to: Self.count(ofYear: year), month ?? 1, day ?? 1)
    let total = days * 86_400 + ofDay + count
    let (newYear, newMonth, newDay) = Self.day(after: Self.floored(total, 86_400))
    let rest = Self.modulo(total, 86_400)
    func shown(_ part: Int?, from needed: Precision, _ value: Int) -> Int? {
      part != nil || precision.rawValue >= needed.rawValue ? value : nil
    }
    return HistoricalDate(
      year: Self.year(ofCount: newYear), month: newMonth, day: newDay, hour: shown(hour, from: .hour, rest / 3600),
      minute: shown(minute, from: .minute, rest / 60 % 60), second: shown(second, from: .second, rest % 60))
  }
}

/// The calendar with a year 0 for 1 BCE, as astronomers count.
extension HistoricalDate {
  static func count(ofYear year: Int) -> Int { year < 0 ? year + 1 : year }

  static func year(ofCount count: Int) -> Int { count <= 0 ? count - 1 : count }

  static func isLeap(_ count: Int) -> Bool {
    modulo(count, 4) == 0 && (modulo(count, 100) != 0 || modulo(count, 400) == 0)
  }

  static func length(ofMonth month: Int, in count: Int) -> Int {
    switch month {
    case 2: isLeap(count) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Days since March 1 of the year 0. Years begin in March, so that the leap day is the last day of a year.
  static func days(to count: Int, _ month: Int, _ day: Int) -> Int {
    let (years, months) = month > 2 ? (count, month - 3) : (count - 1, month + 9)
    let leapDays = floored(years, 4) - floored(years, 100) + floored(years, 400)
    return years * 365 + leapDays + (153 * months + 2) / 5 + day - 1
  }

  static func day(after days: Int) -> (count: Int, month: Int, day: Int) {
    // Eras of 400 years.
    let (era, ofEra) = (floored(days, 146_097), modulo(days, 146_097))
    let years = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
    let ofYear = ofEra - (365 * years + years / 4 - years / 100)
    let months = (5 * ofYear + 2) / 153
    let month = months < 10 ? months + 3 : months - 9
    return (era * 400 + years + (month < 3 ? 1 : 0), month, ofYear - (153 * months + 2) / 5 + 1)
  }

  private static func floored(_ number: Int, _ divisor: Int) -> Int {
    let quotient = number / divisor
    return number % divisor < 0 ? quotient - 1 : quotient
  }

  private static func modulo(_ number: Int, _ divisor: Int) -> Int { number - floored(number, divisor) * divisor }
}

extension Timeline {
  var date: HistoricalDate {
    HistoricalDate(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
  }

  /// A copy at another time.
  func with(_ date: HistoricalDate) -> Timeline {
    var copy = self
    copy.year = date.year
    copy.month = date.month
    copy.day = date.day
    copy.hour = date.hour
    copy.minute = date.minute
    copy.second = date.second
    return copy
  }
}
