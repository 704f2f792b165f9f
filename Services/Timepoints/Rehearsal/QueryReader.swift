import Foundation

/// What a query says of time and place, as far as simple rules find it.
struct QueryReader {
  let query: String

  init(_ query: String) { self.query = query }

  private static let months = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
  ]

  /// A query without a word is no moment.
  var hasWords: Bool { query.contains { $0.isLetter } }

  /// The number before BC or BCE, or the first one of three or four digits.
  var year: Int? {
    if let match = query.firstMatch(of: /(\d{1,4})\s*(?:BCE|BC)\b/.ignoresCase()), let year = Int(match.1), year > 0 {
      return -year
    }
    guard let match = query.firstMatch(of: /\b(\d{3,4})\b/), let year = Int(match.1), year > 0 else { return nil }
    return year
  }

  var month: Int? {
    let words = query.lowercased().split { !$0.isLetter }.map(String.init)
    return Self.months.firstIndex { words.contains($0) }.map { $0 + 1 }
  }

  /// The number beside the month.
  var day: Int? {
    guard let month else { return nil }
    let name = Self.months[month - 1]
    let words = query.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init)
    guard let index = words.firstIndex(of: name) else { return nil }
    let neighbours = [index - 1, index + 1].filter(words.indices.contains).compactMap { Int(words[$0]) }
    return neighbours.first { (1...31).contains($0) }
  }

  /// The words in upper case after "in" or "at".
  var location: String? {
    query.firstMatch(of: /\b(?:in|at)\s+((?:the\s+)?\p{Lu}[\p{L}'.-]*(?:[ ,]+\p{Lu}[\p{L}'.-]*)*)/)
      .map { String($0.1) }
  }
}
