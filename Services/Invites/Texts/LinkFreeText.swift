import Foundation

/// Removes links from names of users and groups, for messages that are sent in the app's name.
enum LinkFreeText {
  /// One line of at most `charactersMax` characters; nil when nothing is left.
  ///
  /// Phones turn domains without a scheme into links, in letters and dots of any script. So a space is put after every
  /// character that ends a sentence or looks like a dot.
  static func line(_ text: String, charactersMax: Int) -> String? {
    var spaced = ""
    var followsDotLike = false
    for scalar in normalized(text).unicodeScalars where !isInvisible(scalar) {
      let isDotLike = self.isDotLike(scalar)
      if followsDotLike, !isDotLike, !scalar.properties.isWhitespace { spaced += " " }
      spaced.unicodeScalars.append(scalar)
      followsDotLike = isDotLike
    }
    let line = spaced.split(whereSeparator: { $0.isWhitespace || $0.isNewline }).joined(separator: " ")
      .prefix(charactersMax)
    let trimmed = line.trimmingCharacters(in: .whitespaces)
    return trimmed.isEmpty ? nil : trimmed
  }

  /// Full-width letters, small dots and similar characters become the common ones (NFKC).
  private static func normalized(_ text: String) -> String { text.precomposedStringWithCompatibilityMapping }

  /// Characters that are not displayed, which could hide a dot or change the reading direction. The zero-width joiner
  /// of emoji is kept.
  private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .format: scalar != "\u{200D}"
    case .control: !scalar.properties.isWhitespace
    case .unassigned, .privateUse, .surrogate: true
    default: false
    }
  }

  /// Punctuation of any script, except characters that occur within words and in no domain or path.
  private static func isDotLike(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.generalCategory == .otherPunctuation && !allowedPunctuation.contains(scalar)
  }

  private static let allowedPunctuation: Set<Unicode.Scalar> = [
    "'", "\"", "’", "&", "!", "?", "#", "%", "*", ",", ";", "/", "¡", "¿",
  ]
}
