import Foundation

/// A calendar day in a time zone, from midnight to midnight.
struct LocalDay: Sendable, Hashable {
  let start: Date
  let end: Date
  /// `2026-11-21`.
  let name: String

  init(_ now: Date, in zone: TimeZone) {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = zone
    start = calendar.startOfDay(for: now)
    // Not every day starts at 00:00 or has 24 hours, so `Calendar` computes the end.
    end = calendar.date(byAdding: .day, value: 1, to: start) ?? start + 86_400
    let parts = calendar.dateComponents([.year, .month, .day], from: now)
    name = [(parts.year, 4), (parts.month, 2), (parts.day, 2)].map { number, width in
      let digits = String(number ?? 0)
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }.joined(separator: "-")
  }
}
