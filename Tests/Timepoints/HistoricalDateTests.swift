import Foundation
import Support
import Testing
import Wire

@testable import Timepoints

@Suite struct HistoricalDateTests {
  private func date(_ year: Int, _ month: Int? = nil, _ day: Int? = nil) -> HistoricalDate {
    HistoricalDate(year: year, month: month, day: day)
  }

  @Test func beforeTheYearOneComesTheYearMinusOne() {
    #expect(date(1).moved(by: -1, .year).year == -1)
    #expect(date(-1).moved(by: 1, .year).year == 1)
    #expect(date(-44, 3, 15).moved(by: 44, .year).year == 1)
    #expect(date(1, 1, 1).moved(by: -1, .day) == date(-1, 12, 31))
    #expect(date(-1, 12, 31).moved(by: 1, .day) == date(1, 1, 1))
    #expect(HistoricalDate(year: 0).year == 1)
    let midnight = HistoricalDate(year: 1, month: 1, day: 1, hour: 0, minute: 0, second: 0)
    #expect(
      midnight.moved(by: -1, .second)
        == HistoricalDate(year: -1, month: 12, day: 31, hour: 23, minute: 59, second: 59))
  }

  @Test func aDayThatDoesNotExistBecomesTheMonthsLast() {
    #expect(date(2024, 2, 29).moved(by: 1, .year) == date(2025, 2, 28))
    #expect(date(2024, 2, 29).moved(by: 4, .year) == date(2028, 2, 29))
    #expect(date(1896, 2, 29).moved(by: 4, .year) == date(1900, 2, 28))
    #expect(date(2023, 1, 31).moved(by: 1, .month) == date(2023, 2, 28))
    #expect(date(2023, 10, 31).moved(by: 1, .month) == date(2023, 11, 30))
    #expect(date(2023, 3, 31).moved(by: -1, .month) == date(2023, 2, 28))
    #expect(date(1900, 2, 30) == date(1900, 2, 28))
    // 1 BCE and 5 BCE are leap years.
    #expect(date(-1, 2, 29).moved(by: 1, .year) == date(1, 2, 28))
    #expect(date(-5, 2, 28).moved(by: 1, .day) == date(-5, 2, 29))
    #expect(date(-4, 2, 28).moved(by: 1, .day) == date(-4, 3, 1))
  }

  @Test func whatIsNotKnownStaysOpen() {
    #expect(date(1889).moved(by: 10, .year) == date(1899))
    #expect(date(1889).moved(by: 1, .month) == date(1889, 2))
    #expect(date(1889, 7).moved(by: 10, .year) == date(1899, 7))
    #expect(date(1889).moved(by: 1, .day) == date(1889, 1, 2))
    #expect(date(1889, 7, 14).moved(by: 25, .hour) == HistoricalDate(year: 1889, month: 7, day: 15, hour: 1))
    let morning = HistoricalDate(year: 1889, month: 7, day: 14, hour: 9)
    #expect(morning.moved(by: 2, .week) == HistoricalDate(year: 1889, month: 7, day: 28, hour: 9))
  }

  @Test func noJumpOverflows() {
    #expect(date(999_999).moved(by: .max, .year).year == 999_999)
    #expect(date(-999_999).moved(by: .min, .week).year == -999_999)
    #expect(date(.min).year == -999_999)
    #expect(HistoricalDate(year: 1, month: .max, day: .max, hour: .max, minute: .min, second: .max).month == 12)
  }

  @Test func eachDayOfEightHundredYearsFollowsTheOneBefore() {
    var day = date(-401, 1, 1)
    var lengths: [Int: Int] = [:]
    var mistakes: [HistoricalDate] = []
    for _ in 0..<(365 * 800) {
      let next = day.moved(by: 1, .day)
      let follows = next.day == (next.month == day.month ? (day.day ?? 0) + 1 : 1)
      if !follows || next.moved(by: -1, .day) != day { mistakes.append(day) }
      lengths[day.year, default: 0] += 1
      day = next
    }
    #expect(mistakes.isEmpty)
    #expect(lengths[0] == nil)
    #expect(lengths[-401] == 366)
    // The year -101 counts as -100, which is no leap year.
    #expect(lengths[-101] == 365)
    #expect(lengths[-1] == 366)
    #expect(lengths[100] == 365)
    #expect(lengths[4] == 366)
  }

  /// Every unit, 1 to 365 of it, both ways, from days at both ends of months, years and centuries, against Python.
  @Test func jumpsAgreeWithPythonsCalendar() async throws {
    let starts = [
      date(1969, 7, 20), date(2000, 2, 29), date(1900, 2, 28), date(1582, 10, 15), date(800, 12, 25),
      date(1999, 12, 31),
      date(401, 1, 31), date(2400, 3, 1),
    ]
    let from = starts.map { "\($0.year) \($0.month ?? 0) \($0.day ?? 0)" }
    let printed = try await Python.run(Self.program, input: from.joined(separator: "\n"))
    var lines = printed.split(separator: "\n").map(String.init)[...]
    var mistakes: [String] = []
    for start in starts {
      let time = HistoricalDate(year: start.year, month: start.month, day: start.day, hour: 13, minute: 59, second: 58)
      for unit in TimeUnit.allCases {
        for count in -365...365 where count != 0 {
          let moved = time.moved(by: count, unit)
          let parts = [moved.year, moved.month, moved.day, moved.hour, moved.minute, moved.second]
          let ours = parts.map { "\($0 ?? -1)" }.joined(separator: " ")
          let theirs = lines.popFirst()
          if ours != theirs { mistakes.append("\(start) \(count) \(unit): \(ours), not \(theirs ?? "nothing")") }
        }
      }
    }
    #expect(mistakes.isEmpty)
    #expect(lines.isEmpty)
  }

  /// Python's `datetime` for units of a fixed length, and its `calendar` for months and years.
  private static let program = """
    import calendar, datetime
    units = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800, "month": 0, "year": 0}
    for line in sys.stdin.read().splitlines():
        year, month, day = map(int, line.split())
        start = datetime.datetime(year, month, day, 13, 59, 58)
        for unit, seconds in units.items():
            for count in [n for n in range(-365, 366) if n]:
                if seconds:
                    end = start + datetime.timedelta(seconds=seconds * count)
                else:
                    months = start.year * 12 + start.month - 1 + count * (12 if unit == "year" else 1)
                    y, m = divmod(months, 12)
                    m += 1
                    end = start.replace(year=y, month=m, day=min(start.day, calendar.monthrange(y, m)[1]))
                print(end.year, end.month, end.day, end.hour, end.minute, end.second)
    """

  /// The Gregorian calendar repeats after 400 years: years before our era must behave as those 2,400 years later.
  @Test func yearsBeforeOurEraAreThoseOfTwentyFourHundredYearsLater() {
    for year in [-1, -5, -44, -100, -101, -399, -401] {
      for day in [date(year, 1, 31), date(year, 2, 28), date(year, 12, 31)] {
        let later = date(HistoricalDate.count(ofYear: year) + 2400, day.month, day.day)
        for unit in TimeUnit.allCases {
          for count in [-365, -12, -1, 1, 13, 365] {
            let (early, late) = (day.moved(by: count, unit), later.moved(by: count, unit))
            #expect(HistoricalDate.count(ofYear: early.year) + 2400 == late.year)
            #expect([early.month, early.day, early.hour] == [late.month, late.day, late.hour])
          }
        }
      }
    }
  }
}
