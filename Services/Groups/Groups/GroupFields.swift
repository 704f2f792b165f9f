import Foundation
import Wire

/// Validates the fields of a group that its members can set.
enum GroupFields {
  /// - Throws: the validation failure that names the field, unless it has 1 to 50 characters.
  static func name(_ text: String) throws(Failure) -> String {
    try TrimmedText.required(text, field: "name", charactersMax: 50)
  }

  /// The text without surrounding whitespace, or nil when nothing is left.
  ///
  /// - Throws: the validation failure that names the field, over 1000 characters.
  static func description(_ text: String) throws(Failure) -> String? {
    let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
    guard text.unicodeScalars.count <= 1000 else {
      throw .invalid(.init("description", "must have at most 1000 characters"))
    }
    return text.isEmpty ? nil : text
  }

  /// - Throws: the validation failure that names the field, unless it is an IANA name such as `Europe/Oslo`.
  static func timeZone(_ name: String) throws(Failure) -> TimeZone {
    guard name == "UTC" || name.contains("/"), let zone = TimeZone(identifier: name) else {
      throw .invalid(.init("time_zone", "must be the IANA name of a time zone"))
    }
    return zone
  }
}
