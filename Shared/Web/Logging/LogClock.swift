import Foundation
import Synchronization
import Wire

/// Writes the times of log lines, such as `2026-11-21T08:15:30.123Z`. All but the milliseconds is formatted once a
/// second.
final class LogClock: Sendable {
  static let system = LogClock()
  /// A second since 1970, and its text without the `Z`.
  private let formatted = Mutex((second: Int.min, text: ""))

  func write(_ date: Date, to line: inout [UInt8]) {
    let milliseconds = Int((date.timeIntervalSince1970 * 1000).rounded())
    line.append(utf8: text(of: milliseconds / 1000))
    line.append(UInt8(ascii: "."))
    for divisor in [100, 10, 1] { line.append(UInt8(ascii: "0") + UInt8(milliseconds / divisor % 10)) }
    line.append(UInt8(ascii: "Z"))
  }

  private func text(of second: Int) -> String {
    formatted.withLock { formatted in
      if formatted.second != second {
        formatted = (second, String(RFC3339.seconds(Date(timeIntervalSince1970: Double(second))).dropLast()))
      }
      return formatted.text
    }
  }
}
