import Foundation
import Wire

/// Validates a line of text that a user has typed, such as a name.
enum TrimmedText {
  /// The text without surrounding whitespace.
  ///
  /// - Throws: the validation failure that names the field, unless 1 to `charactersMax` characters are left, of at most
  ///   16 bytes each on average.
  static func required(_ text: String, field: String, charactersMax: Int) throws(Failure) -> String {
    let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
    guard (1...charactersMax).contains(text.count), text.utf8.count <= charactersMax * 16 else {
      throw .invalid(.init(field, "must have 1 to \(charactersMax) characters"))
    }
    return text
  }
}
