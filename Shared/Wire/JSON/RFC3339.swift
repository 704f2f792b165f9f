import Foundation

/// The two formats of times, both RFC 3339 in UTC with `Z`: with milliseconds and with whole seconds.
package enum RFC3339 {
  /// `2026-11-21T08:15:30.123Z`, for databases and for bodies between services.
  package static func milliseconds(_ date: Date) -> String {
    if let text = plain(date, withMilliseconds: true) { return text }
    // The style truncates, and 0.123 s is a little less than that as a Double: half a millisecond is added to round.
    return (date + 0.0005).formatted(fractional)
  }

  /// `2026-11-21T08:15:30Z`, for the `.iso8601` decoders of iOS apps.
  package static func seconds(_ date: Date) -> String {
    plain(date, withMilliseconds: false) ?? (date + 0.0005).formatted(whole)
  }

  /// Parses both formats; nil for any other text.
  package static func parse(_ text: String) -> Date? {
    if let date = plain(text) { return date }
    // The format style reads 30 February as a day in March.
    guard text.hasSuffix("Z"), beginsWithDay(text) else { return nil }
    // `try?`: text that is not a time is nil.
    return (try? (text.contains(".") ? fractional : whole).parse(text))?.wholeMilliseconds
  }

  private static let whole = Date.ISO8601FormatStyle()
  private static let fractional = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
}

extension RFC3339 {
  /// Parses up to nine decimals, rounded to milliseconds, and years from 1600, about twenty times faster than a format
  /// style, as a list of tasks has thousands of times. nil for any other format.
  private static func plain(_ text: String) -> Date? {
    text.utf8.withContiguousStorageIfAvailable { bytes -> Date? in
      guard (20...30).contains(bytes.count), bytes.count != 21, bytes.last == UInt8(ascii: "Z"),
        bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"), bytes[10] == UInt8(ascii: "T"),
        bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":"),
        let year = number(bytes, 0..<4), let month = number(bytes, 5..<7), let day = number(bytes, 8..<10),
        let hour = number(bytes, 11..<13), let minute = number(bytes, 14..<16), let second = number(bytes, 17..<19),
        let milliseconds = milliseconds(bytes, 19..<bytes.count - 1), year >= 1600, hour < 24, minute < 60,
        second < 60, let days = days(to: year, month, day)
      else { return nil }
      let seconds = days * 86_400 + hour * 3600 + minute * 60 + second
      return Date(timeIntervalSince1970: Double(seconds * 1000 + milliseconds) / 1000)
    } ?? nil
  }

  /// Whether it begins with a day that exists, as in `2026-02-28`.
  private static func beginsWithDay(_ text: String) -> Bool {
    text.utf8.withContiguousStorageIfAvailable { bytes in
      guard bytes.count >= 10, let year = number(bytes, 0..<4), let month = number(bytes, 5..<7),
        let day = number(bytes, 8..<10)
      else { return false }
      return days(to: year, month, day) != nil
    } ?? false
  }

  private static func number(_ bytes: UnsafeBufferPointer<UInt8>, _ digits: Range<Int>) -> Int? {
    var number = 0
    for index in digits {
      let digit = bytes[index] &- UInt8(ascii: "0")
      guard digit < 10 else { return nil }
      number = number * 10 + Int(digit)
    }
    return number
  }

  /// The milliseconds of a decimal point and one to nine digits, rounded; 0 for no bytes.
  private static func milliseconds(_ bytes: UnsafeBufferPointer<UInt8>, _ fraction: Range<Int>) -> Int? {
    guard let point = fraction.first else { return 0 }
    guard bytes[point] == UInt8(ascii: "."), var number = number(bytes, fraction.dropFirst()) else { return nil }
    var digits = fraction.count - 1
    while digits < 3 { (number, digits) = (number * 10, digits + 1) }
    var unit = 1
    while digits > 3 { (unit, digits) = (unit * 10, digits - 1) }
    return (number + unit / 2) / unit
  }

  /// The days from 1970-01-01 to a day in the Gregorian calendar; nil when the month has no such day.
  private static func days(to year: Int, _ month: Int, _ day: Int) -> Int? {
    let isLeap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
    let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    guard (1...12).contains(month), (1...lengths[month - 1]).contains(day) else { return nil }
    // Years begin in March, so that the leap day is the last day of a year.
    let (years, months) = month > 2 ? (year, month - 3) : (year - 1, month + 9)
    return years * 365 + years / 4 - years / 100 + years / 400 + (153 * months + 2) / 5 + day - 1 - 719_468
  }
}

extension RFC3339 {
  /// Formats times from 1970 to the year 9999, without a calendar. nil for any other time.
  private static func plain(_ date: Date, withMilliseconds: Bool) -> String? {
    let rounded = (date.timeIntervalSince1970 * 1000).rounded()
    guard rounded >= 0, rounded < 253_402_300_800_000, let milliseconds = Int(exactly: rounded) else { return nil }
    let (days, ofDay) = (milliseconds / 86_400_000, milliseconds % 86_400_000)
    let (year, month, day) = calendarDay(after: days)
    return String(unsafeUninitializedCapacity: 24) { text in
      var end = 0
      func write(_ number: Int, _ digits: Int, _ mark: Unicode.Scalar) {
        var rest = number
        for index in stride(from: end + digits - 1, through: end, by: -1) {
          text[index] = UInt8(ascii: "0") + UInt8(rest % 10)
          rest /= 10
        }
        text[end + digits] = UInt8(ascii: mark)
        end += digits + 1
      }
      write(year, 4, "-")
      write(month, 2, "-")
      write(day, 2, "T")
      write(ofDay / 3_600_000, 2, ":")
      write(ofDay / 60_000 % 60, 2, ":")
      write(ofDay / 1000 % 60, 2, withMilliseconds ? "." : "Z")
      if withMilliseconds { write(ofDay % 1000, 3, "Z") }
      return end
    }
  }

  /// The day in the Gregorian calendar that is `days` after 1970-01-01, the inverse of ``days(to:_:_:)``.
  private static func calendarDay(after days: Int) -> (year: Int, month: Int, day: Int) {
    // Days since 0000-03-01, in eras of 400 years, whose years begin in March.
    let (era, ofEra) = ((days + 719_468) / 146_097, (days + 719_468) % 146_097)
    let years = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
    let ofYear = ofEra - (365 * years + years / 4 - years / 100)
    let months = (5 * ofYear + 2) / 153
    let month = months < 10 ? months + 3 : months - 9
    return (era * 400 + years + (month < 3 ? 1 : 0), month, ofYear - (153 * months + 2) / 5 + 1)
  }
}

extension Date {
  /// Rounded to whole milliseconds, the precision of the databases, so that a time read equals the time written.
  package var wholeMilliseconds: Date {
    Date(timeIntervalSince1970: (timeIntervalSince1970 * 1000).rounded() / 1000)
  }
}
