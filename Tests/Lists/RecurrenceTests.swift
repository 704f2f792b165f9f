import Database
import Foundation
import Support
import Testing
import Wire

@testable import Lists

/// The occurrences of recurring tasks.
@Suite struct RecurrenceTests {
  private func series(
    _ pattern: Recurrence.Pattern, from start: String, every interval: Int = 1, on days: [Int]? = nil,
    zone: String = "GMT"
  ) throws -> Recurrence {
    var series = Recurrence()
    (series.isOn, series.pattern, series.interval, series.days) = (true, pattern, interval, days)
    series.zone = zone
    series.begin(at: try #require(Timestamp.parse(start)))
    return series
  }

  /// The times of a series in which each task is completed at its due date.
  private func times(_ series: Recurrence, _ count: Int, until now: String? = nil) throws -> [String] {
    var (series, times) = (series, [String]())
    for _ in 0..<count {
      let now = try now.map { try #require(Timestamp.parse($0)) } ?? series.start ?? Date()
      guard let next = series.next(at: now) else { break }
      times.append(RFC3339.seconds(next.time))
      series = series.advanced(after: 1, to: next)
    }
    return times
  }

  @Test func daysWeeksMonthsAndYearsFollow() throws {
    #expect(
      try times(series(.daily, from: "2026-12-30T08:00:00Z", every: 2), 2)
        == ["2027-01-01T08:00:00Z", "2027-01-03T08:00:00Z"])
    // The start is a Wednesday: the Friday of the same week, then every other week.
    #expect(
      try times(series(.weekly, from: "2026-11-18T08:00:00Z", every: 2, on: [1, 5]), 3)
        == ["2026-11-20T08:00:00Z", "2026-11-30T08:00:00Z", "2026-12-04T08:00:00Z"])
    for sunday in [0, 7] {
      #expect(try times(series(.weekly, from: "2026-11-18T08:00:00Z", on: [sunday]), 1) == ["2026-11-22T08:00:00Z"])
    }
    #expect(
      try times(series(.monthly, from: "2026-11-10T08:00:00Z", on: [1, 31]), 3)
        == ["2026-11-30T08:00:00Z", "2026-12-01T08:00:00Z", "2026-12-31T08:00:00Z"])
    #expect(try times(series(.yearly, from: "2026-11-18T08:00:00Z", every: 3), 1) == ["2029-11-18T08:00:00Z"])
  }

  @Test func aMonthThatLacksTheDayHasItsLast() throws {
    #expect(
      try times(series(.monthly, from: "2027-12-31T08:00:00Z"), 4)
        == ["2028-01-31T08:00:00Z", "2028-02-29T08:00:00Z", "2028-03-31T08:00:00Z", "2028-04-30T08:00:00Z"])
    #expect(
      try times(series(.yearly, from: "2028-02-29T08:00:00Z"), 4)
        == ["2029-02-28T08:00:00Z", "2030-02-28T08:00:00Z", "2031-02-28T08:00:00Z", "2032-02-29T08:00:00Z"])
  }

  @Test func itIsTheSameTimeByTheClockAllYear() throws {
    // Oslo's clocks go forward on 28 March 2027 at 2 and back on 31 October at 3.
    let spring = try series(.daily, from: "2027-03-27T08:00:00+01:00", zone: "Europe/Oslo")
    #expect(try times(spring, 2) == ["2027-03-28T06:00:00Z", "2027-03-29T06:00:00Z"])
    let skipped = try series(.daily, from: "2027-03-27T02:30:00+01:00", zone: "Europe/Oslo")
    #expect(try times(skipped, 2) == ["2027-03-28T01:30:00Z", "2027-03-29T00:30:00Z"])
    let twice = try series(.daily, from: "2027-10-30T02:30:00+02:00", zone: "Europe/Oslo")
    #expect(try times(twice, 2) == ["2027-10-31T00:30:00Z", "2027-11-01T01:30:00Z"])
    // Half past eleven at night is another day in UTC.
    let late = try series(.monthly, from: "2027-01-30T23:30:00-08:00", zone: "America/Los_Angeles")
    #expect(try times(late, 2) == ["2027-03-01T07:30:00Z", "2027-03-31T06:30:00Z"])
  }

  @Test func whoComesBackLateFindsOneTask() throws {
    let daily = try series(.daily, from: "1990-01-01T08:00:00Z", every: 3)
    let next = try #require(try times(daily, 1, until: "2026-11-21T12:00:00Z").first)
    #expect(next > "2026-11-21T12:00:00Z" && next <= "2026-11-24T08:00:00Z")
    let weekly = try series(.weekly, from: "1990-01-01T08:00:00Z", on: [1])
    #expect(try times(weekly, 1, until: "2026-11-21T12:00:00Z") == ["2026-11-23T08:00:00Z"])
    let monthly = try series(.monthly, from: "1990-01-31T08:00:00Z")
    #expect(try times(monthly, 1, until: "2026-11-30T07:00:00Z") == ["2026-11-30T08:00:00Z"])
    #expect(try times(monthly, 1, until: "2026-11-30T08:00:00Z") == ["2026-12-31T08:00:00Z"])
  }

  @Test func aSeriesEndsAfterItsLastDayOrItsCount() throws {
    var series = try series(.daily, from: "2027-01-01T08:00:00Z")
    series.lastDay = CalendarDay("2027-01-03")
    #expect(try times(series, 9).count == 2)
    (series.lastDay, series.count) = (nil, 5)
    #expect(try times(series, 9).count == 4)
    series.count = 1
    #expect(try times(series, 9).isEmpty)
    series = try self.series(.yearly, from: "9990-01-01T00:00:00Z", every: 1000)
    #expect(try times(series, 1).isEmpty)
    series.isOn = false
    #expect(try times(series, 1).isEmpty)
  }

  @Test func timesAreReadAsTheStandardWritesThem() {
    for (text, time) in [
      ("2026-11-21T10:00:00+02:00", "2026-11-21T08:00:00.000Z"), ("2026-11-21t10:00:00z", "2026-11-21T10:00:00.000Z"),
      ("2026-11-21T23:30:00.25-05:45", "2026-11-22T05:15:00.250Z"),
      ("2026-11-21T10:00:00.123456789+00:00", "2026-11-21T10:00:00.123Z"),
      ("2026-11-21T10:00:00-00:00", "2026-11-21T10:00:00.000Z"),
    ] { #expect(Timestamp.parse(text).map(RFC3339.milliseconds) == time, "\(text)") }
    for text in [
      "2026-11-21T10:00:00", "2026-11-21T10:00:00+24:00", "2026-11-21T10:00:00+02:60", "2026-11-21T10:00:00+0200",
      "2026-02-30T10:00:00+02:00", "2026-02-30T10:00:00Z", "2026-11-21 10:00:00Z", "2026-11-21", "", "+02:00",
    ] { #expect(Timestamp.parse(text) == nil, "\(text)") }
  }
}
