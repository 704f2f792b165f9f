import Foundation

/// The statements in the sources of the services and of what they share.
struct SourceStatements {
  struct Statement {
    /// The file and the line.
    let place: String
    let text: String
    fileprivate let pattern: NSRegularExpression

    /// Whether `executed` may be this statement.
    func matches(_ executed: String) -> Bool {
      pattern.firstMatch(in: executed, range: NSRange(executed.startIndex..., in: executed)) != nil
    }
  }

  let all: [Statement]

  /// - Parameter root: the folder of the package.
  init(root: URL) throws {
    var all: [Statement] = []
    for folder in ["Services", "Shared"] {
      let files = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
      while let file = files?.nextObject() as? String {
        // The engines' own statements are on no table of a service.
        let isEngine = folder == "Shared" && (file.hasPrefix("Database/") || file.hasPrefix("Postgres/"))
        // Statements that are composed for requests, and what the declarations of tables add to them.
        let isComposed = folder == "Shared" && file.hasPrefix("RestQueries/") || file.contains("/Tables/")
        guard file.hasSuffix(".swift"), !isEngine, !isComposed else { continue }
        let path = "\(folder)/\(file)"
        all += try Self.statements(in: String(contentsOf: root.appending(path: path), encoding: .utf8), path)
      }
    }
    self.all = all
  }

  /// A literal of several lines, or of one line with interpolations.
  private static let literal = #""""\n(.*?)\n\s*"""|"((?:[^"\\\n]|\\\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|\\.)*)""#
  private static let verb = #"^(select |insert into |update \S+ set |delete from |with (recursive )?\w+ (\(\w+\) )?as)"#
  private static let call = #"\b(rows|row|change|enqueue)\(\s*$"#
  private static let interpolation = #"\\\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"#

  private static func statements(in source: String, _ path: String) throws -> [Statement] {
    let literals = try NSRegularExpression(pattern: literal, options: .dotMatchesLineSeparators)
    return try literals.matches(in: source, range: NSRange(source.startIndex..., in: source)).compactMap { match in
      guard let whole = Range(match.range, in: source),
        let content = Range(match.range(at: 1), in: source) ?? Range(match.range(at: 2), in: source)
      else { return nil }
      let text = singleLine(String(source[content]))
      let before = source[..<whole.lowerBound]
      let isArgument = before.suffix(60).range(of: call, options: .regularExpression) != nil
      let isStatement = text.range(of: verb, options: .regularExpression) != nil
      guard isStatement || isArgument && text.contains(" ") else { return nil }
      let line = before.count { $0 == "\n" } + 1
      return Statement(place: "\(path):\(line)", text: text, pattern: try pattern(of: text, isWhole: isArgument))
    }
  }

  /// - Parameter isWhole: false for a piece that other text may follow.
  private static func pattern(of text: String, isWhole: Bool) throws -> NSRegularExpression {
    let interpolations = try NSRegularExpression(pattern: interpolation)
    var (pattern, rest) = ("^", text.startIndex)
    for match in interpolations.matches(in: text, range: NSRange(text.startIndex..., in: text)) {
      guard let range = Range(match.range, in: text) else { continue }
      pattern += escaped(text[rest..<range.lowerBound])
      pattern += executed(text[range], after: text[..<range.lowerBound])
      rest = range.upperBound
    }
    return try NSRegularExpression(pattern: pattern + escaped(text[rest...]) + (isWhole ? "$" : ""))
  }

  /// What an interpolation is in the executed statement.
  private static func executed(_ interpolation: Substring, after text: Substring) -> String {
    if interpolation.hasPrefix(#"\(list:"#) { return "[^()]*" }
    let isCompared = text.range(of: #"(=|<|>|limit|like) $"#, options: .regularExpression) != nil
    if isCompared { return #"\$[0-9]+"# }
    // One of the values of an insert, or a fragment.
    return text.hasPrefix("insert") && !text.hasSuffix("returning ") ? "[^,]*" : ".*?"
  }

  private static func escaped(_ literal: Substring) -> String {
    NSRegularExpression.escapedPattern(for: literal.replacingOccurrences(of: #"\\"#, with: #"\"#))
  }

  static func singleLine(_ text: String) -> String {
    text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }
}
