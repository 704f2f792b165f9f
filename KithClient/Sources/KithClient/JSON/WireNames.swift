/// Names of properties here, and names of members on the wire.
enum WireNames {
  private static let initialisms = ["id": "ID", "ids": "IDs", "url": "URL"]

  /// `user_id` and `userId` are `userID`.
  static func propertyName(_ wire: String) -> String {
    let words = wire.split(separator: "_").flatMap(camelWords)
    guard let first = words.first else { return wire }
    return first + words.dropFirst().map { initialisms[$0] ?? $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
  }

  /// `userID` is `user_id`.
  static func wireName(_ property: String) -> String {
    var name = ""
    var previousIsUppercase = true
    for character in property {
      if character.isUppercase, !previousIsUppercase { name += "_" }
      name += character.lowercased()
      previousIsUppercase = character.isUppercase
    }
    return name
  }

  private static func camelWords(_ text: Substring) -> [String] {
    var words: [String] = []
    var previousIsUppercase = true
    for character in text {
      if character.isUppercase, !previousIsUppercase || words.isEmpty { words.append("") }
      if words.isEmpty { words.append("") }
      words[words.count - 1] += character.lowercased()
      previousIsUppercase = character.isUppercase
    }
    return words
  }
}
