import Foundation
import Wire

/// The texts of times that clients send: with `T` or a space, with or without a fraction and a zone.
enum TimestampText {
  /// - Returns: the time, rounded down to milliseconds. Without a zone it is in UTC.
  /// - Throws: ``RestFailure`` for any other text, and for years before 1600 or after 9999.
  static func date(_ text: String) throws -> Date {
    var scanner = Scanner(text.trimmingCharacters(in: .whitespaces), subject: "timestamp")
    guard let date = date(&scanner), scanner.isAtEnd else {
      throw RestFailure(400, "22007", "invalid input syntax for type timestamp with time zone: \"\(text.prefix(100))\"")
    }
    guard date.timeIntervalSince1970 >= yearMin, date.timeIntervalSince1970 < yearMax else {
      throw RestFailure(400, "22008", "timestamp out of range: \"\(text.prefix(100))\"")
    }
    return date
  }

  /// A time as the databases write it.
  static func stored(_ text: String) -> Date? {
    // `try?`: anything else is not a time.
    RFC3339.parse(text) ?? (try? date(text))
  }

  /// `2026-11-22`
  static func day(_ text: String) throws -> String {
    var scanner = Scanner(text.trimmingCharacters(in: .whitespaces), subject: "date")
    guard let day = day(&scanner), scanner.isAtEnd else {
      throw RestFailure(400, "22007", "invalid input syntax for type date: \"\(text.prefix(100))\"")
    }
    return day
  }

  /// 1600-01-02 and 9999-12-31: with any offset the time has a year of four digits.
  private static let yearMin = -11_676_009_600.0
  private static let yearMax = 253_402_214_400.0

  private static func date(_ scanner: inout Scanner) -> Date? {
    guard let day = day(&scanner) else { return nil }
    guard scanner.skip("T") || scanner.skip("t") || scanner.skip(" ") else { return RFC3339.parse(day + "T00:00:00Z") }
    guard let hour = number(&scanner, to: 23), scanner.skip(":"), let minute = number(&scanner, to: 59) else {
      return nil
    }
    var second = "00"
    var fraction = "000"
    if scanner.skip(":") {
      guard let digits = number(&scanner, to: 59) else { return nil }
      second = digits
      if scanner.skip(".") {
        let digits = scanner.take { ("0"..."9").contains($0) }
        guard (1...9).contains(digits.count) else { return nil }
        fraction = String((digits + "00").prefix(3))
      }
    }
    guard let offset = offset(&scanner), let date = RFC3339.parse("\(day)T\(hour):\(minute):\(second).\(fraction)Z")
    else { return nil }
    return date - Double(offset)
  }

  /// In seconds.
  private static func offset(_ scanner: inout Scanner) -> Int? {
    scanner.skipBlanks()
    guard !scanner.isAtEnd, !scanner.skip("Z"), !scanner.skip("z"), !scanner.skip("UTC") else { return 0 }
    let isNegative = scanner.skip("-")
    guard isNegative || scanner.skip("+"), let hours = number(&scanner, to: 15).flatMap(Int.init) else { return nil }
    var seconds = hours * 3600
    if scanner.skip(":") || !scanner.isAtEnd {
      guard let minutes = number(&scanner, to: 59).flatMap(Int.init) else { return nil }
      seconds += minutes * 60
    }
    return isNegative ? -seconds : seconds
  }

  private static func day(_ scanner: inout Scanner) -> String? {
    let year = scanner.take { ("0"..."9").contains($0) }
    guard year.count == 4, let number = Int(year), scanner.skip("-"), let month = self.number(&scanner, to: 12),
      scanner.skip("-"), let count = Int(month).flatMap({ dayCount(of: $0, in: number) }),
      let day = self.number(&scanner, to: count), day != "00"
    else { return nil }
    return "\(year)-\(month)-\(day)"
  }

  /// nil for month 0.
  private static func dayCount(of month: Int, in year: Int) -> Int? {
    let isLeap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
    let counts = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return counts.indices.contains(month - 1) ? counts[month - 1] : nil
  }

  /// Two digits.
  private static func number(_ scanner: inout Scanner, to max: Int) -> String? {
    let start = scanner.position
    while scanner.position < start + 2, let next = scanner.next, ("0"..."9").contains(next) { scanner.advance() }
    let digits = scanner.slice(start)
    return Int(digits).map { digits.utf8.count == 2 && $0 <= max } ?? false ? digits : nil
  }
}
