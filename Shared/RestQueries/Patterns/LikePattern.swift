/// The operand of `like` and `ilike`: `*` and `%` are any text, `_` is any character, a backslash escapes.
struct LikePattern {
  private enum Part { case text, character, literal(Character) }

  private let parts: [Part]

  init(_ text: String) throws {
    var parts: [Part] = []
    var isEscaped = false
    for character in text.replacing("*", with: "%").unicodeScalars.map(Character.init) {
      if isEscaped {
        parts.append(.literal(character))
        isEscaped = false
        continue
      }
      switch character {
      case "\\": isEscaped = true
      case "%": parts.append(.text)
      case "_": parts.append(.character)
      default: parts.append(.literal(character))
      }
    }
    guard !isEscaped else { throw RestFailure.patternEndsInEscape }
    self.parts = parts
  }

  /// For `like … escape '\'` on both engines.
  var likeText: String {
    parts.map { part in
      switch part {
      case .text: "%"
      case .character: "_"
      case .literal(let character): "%_\\".contains(character) ? "\\\(character)" : String(character)
      }
    }.joined()
  }

  /// For SQLite's `glob`, which distinguishes upper and lower case.
  var globText: String {
    parts.map { part in
      switch part {
      case .text: "*"
      case .character: "?"
      case .literal(let character): "*?[".contains(character) ? "[\(character)]" : String(character)
      }
    }.joined()
  }
}
