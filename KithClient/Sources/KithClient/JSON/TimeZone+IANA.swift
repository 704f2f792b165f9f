import Foundation

extension TimeZone {
  /// The name in the IANA database, which the server knows. Foundation calls fixed offsets `GMT` and `GMT+0200`.
  var ianaName: String {
    guard identifier.hasPrefix("GMT") else { return identifier }
    let hours = secondsFromGMT() / 3600
    // The database counts these westwards.
    return hours == 0 ? "UTC" : "Etc/GMT\(hours > 0 ? "-" : "+")\(abs(hours))"
  }
}
