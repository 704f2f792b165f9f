import Foundation

/// The two ways in which times are written, both UTC with `Z` (RFC 3339): with milliseconds, and whole seconds.
package enum Instant {
  /// `2026-11-21T08:15:30.123Z`: what databases and service-to-service bodies hold.
  package static func milliseconds(_ date: Date) -> String {
    // The style cuts, and 0.123 s is a little less than that as a Double: half a millisecond makes the cut a rounding.
    (date + 0.0005).formatted(fractional)
  }

  /// `2026-11-21T08:15:30Z`: what `.iso8601` decoders of iOS apps read.
  package static func seconds(_ date: Date) -> String { (date + 0.0005).formatted(whole) }

  /// Reads both; nil for anything that is not UTC with `Z`.
  package static func parse(_ text: String) -> Date? {
    guard text.hasSuffix("Z") else { return nil }
    // `try?`: text that is no time is this function's nil.
    return (try? (text.contains(".") ? fractional : whole).parse(text))?.wholeMilliseconds
  }

  private static let whole = Date.ISO8601FormatStyle()
  private static let fractional = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
}

extension Date {
  /// Rounded to whole milliseconds, as the databases keep it, so that a time read back equals the time written.
  package var wholeMilliseconds: Date {
    Date(timeIntervalSince1970: (timeIntervalSince1970 * 1000).rounded() / 1000)
  }
}
