import Foundation
import Wire

/// The time of day in which alerts are held back.
struct QuietHours: Sendable, Hashable {
  var isEnabled = false
  /// Minutes since midnight.
  var start = 22 * 60
  var end = 7 * 60

  /// The end of the quiet hours in which this time falls; nil when it falls in none.
  func end(after time: Date, in zone: TimeZone) -> Date? {
    guard isEnabled, start != end else { return nil }
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = zone
    let parts = calendar.dateComponents([.hour, .minute], from: time)
    let minute = (parts.hour ?? 0) * 60 + (parts.minute ?? 0)
    let isQuiet = start < end ? (start..<end).contains(minute) : minute >= start || minute < end
    guard isQuiet else { return nil }
    // The clock is put forward at night: the next time that matches is after the gap.
    return calendar.nextDate(
      after: time, matching: DateComponents(hour: end / 60, minute: end % 60, second: 0), matchingPolicy: .nextTime)
  }

  /// `22:00`.
  static func text(_ minutes: Int) -> String {
    let (hour, minute) = (minutes / 60, minutes % 60)
    return "\(hour < 10 ? "0" : "")\(hour):\(minute < 10 ? "0" : "")\(minute)"
  }

  /// - Throws: the validation failure that names `field`, unless it is a time of day such as 22:00.
  static func minutes(_ text: String, field: String) throws(Failure) -> Int {
    guard let match = text.wholeMatch(of: /([01][0-9]|2[0-3]):([0-5][0-9])/), let hour = Int(match.1),
      let minute = Int(match.2)
    else { throw .invalid(.init(field, "must be a time of day such as 22:00")) }
    return hour * 60 + minute
  }
}
