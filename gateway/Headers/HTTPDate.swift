#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Formats the `Date` header (RFC 9110 §5.6.7).
enum HTTPDate {
  /// Seconds since 1970.
  static func now() -> Int { time(nil) }

  /// The whole header line, with its CRLF.
  static func line(_ second: Int64) -> [UInt8] {
    var clock = time_t(second)
    var parts = tm()
    gmtime_r(&clock, &parts)
    let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let day = days[Int(parts.tm_wday) % 7]
    let month = months[Int(parts.tm_mon) % 12]
    let time = "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
    return Array("date: \(day), \(two(parts.tm_mday)) \(month) \(1900 + parts.tm_year) \(time) GMT\r\n".utf8)
  }
}
