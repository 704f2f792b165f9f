import Foundation

/// What people call themselves and their groups, as it may stand in a message that goes out in our name: nothing of it is
/// taken for a link.
enum LinkFreeWords {
  /// One line, at most so many characters; nil when nothing is left.
  ///
  /// Phones make a link of a domain without any scheme, also of one in letters and dots of any script: so after whatever
  /// ends a sentence or could stand for a dot there is a blank, as there is in a sentence.
  static func of(_ words: String, most: Int) -> String? {
    var apart = ""
    var stops = false
    for scalar in compatible(words).unicodeScalars where !isInvisible(scalar) {
      let isStop = self.isStop(scalar)
      if stops, !isStop, !scalar.properties.isWhitespace { apart += " " }
      apart.unicodeScalars.append(scalar)
      stops = isStop
    }
    let line = apart.split(whereSeparator: { $0.isWhitespace || $0.isNewline }).joined(separator: " ").prefix(most)
    let trimmed = line.trimmingCharacters(in: .whitespaces)
    return trimmed.isEmpty ? nil : trimmed
  }

  /// Full-width letters, small dots and the like are what they look like (NFKC).
  private static func compatible(_ words: String) -> String { words.precomposedStringWithCompatibilityMapping }

  /// What nobody sees could hide a dot, or turn the order of what is read. The joiner of emoji may stay.
  private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .format: scalar != "\u{200D}"
    case .control: !scalar.properties.isWhitespace
    case .unassigned, .privateUse, .surrogate: true
    default: false
    }
  }

  /// Punctuation of any script but what stands within words and can be in no domain or path.
  private static func isStop(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.generalCategory == .otherPunctuation && !harmless.contains(scalar)
  }

  private static let harmless: Set<Unicode.Scalar> = [
    "'", "\"", "’", "&", "!", "?", "#", "%", "*", ",", ";", "/", "¡", "¿",
  ]
}
