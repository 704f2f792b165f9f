import Foundation
import Wire

extension RFC3339 {
  /// Times from 1970 to 9999, whose texts sort in the same order as the times.
  static let storable = Date(timeIntervalSince1970: 0)..<Date(timeIntervalSince1970: 253_402_300_800)
}

/// Parses every time that RFC 3339 allows: with any offset, any number of decimals, and lowercase letters.
enum Timestamp {
  static func parse(_ text: String) -> Date? {
    guard CalendarDay(String(text.prefix(10))) != nil else { return nil }
    if let time = RFC3339.parse(text) { return time }
    // Captures: the time without a zone, its decimals, and the zone.
    let pattern = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)/
    guard text.utf8.count <= 64, let match = text.uppercased().wholeMatch(of: pattern) else { return nil }
    let decimals = match.2.map { ".\($0.prefix(3))" } ?? ""
    guard let time = RFC3339.parse("\(match.1)\(decimals)Z"), let seconds = offset(match.3) else { return nil }
    return time - Double(seconds)
  }

  /// Seconds east of UTC.
  private static func offset(_ zone: Substring) -> Int? {
    guard zone != "Z" else { return 0 }
    guard let hours = Int(zone.dropFirst().prefix(2)), let minutes = Int(zone.suffix(2)), hours < 24, minutes < 60
    else { return nil }
    return (hours * 3600 + minutes * 60) * (zone.hasPrefix("-") ? -1 : 1)
  }
}
