import Foundation
import Wire

/// What people may call a group and say of it.
enum GroupWords {
  /// - Throws: the validation failure that names the field, unless it has 1 to 50 characters.
  static func name(_ text: String) throws(Failure) -> String {
    try Words.required(text, field: "name", charactersMax: 50)
  }

  /// Empty is nil.
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

  /// The letters and digits that nobody takes for another.
  private static let codeLetters = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789")

  /// A new code by which a group can be joined, 40 random bits.
  static func newInviteCode() -> String {
    var generator = SystemRandomNumberGenerator()
    return String((0..<8).map { _ in codeLetters[Int.random(in: codeLetters.indices, using: &generator)] })
  }
}

/// Names as people type them.
enum Words {
  /// - Throws: the validation failure that names the field, unless something is left after trimming, and not too much.
  static func required(_ text: String, field: String, charactersMax: Int) throws(Failure) -> String {
    let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
    guard (1...charactersMax).contains(text.count), text.utf8.count <= charactersMax * 16 else {
      throw .invalid(.init(field, "must have 1 to \(charactersMax) characters"))
    }
    return text
  }
}
