/// Operands: lists of `in`, array literals, and values within logic trees.
extension Scanner {
  /// `(a,"b,c")`: an element that begins with a quote is quoted if its closing quote ends it; `()` is one empty text.
  mutating func inList() throws -> [String] {
    try expect("(")
    var values: [String] = []
    repeat {
      values.append(try listElement())
      guard values.count <= QueryBounds.listMax else {
        throw RestFailure.tooMuch("values of in", max: QueryBounds.listMax)
      }
    } while skip(",")
    try expect(")")
    return values
  }

  private mutating func listElement() throws -> String {
    let start = position
    let quotedElement = attempt { scanner -> String? in
      // `try?`: without its closing quote the element is taken as it stands.
      guard scanner.next == "\"", let text = try? scanner.quoted() else { return nil }
      return scanner.next == "," || scanner.next == ")" ? text : nil
    }
    if let quotedElement { return quotedElement }
    let text = take { $0 != "," && $0 != ")" }
    guard !isAtEnd else { throw failure("\",\" or \")\"", at: start + text.unicodeScalars.count) }
    return text
  }

  /// A value within a logic tree: in quotes, in braces, or up to the next `,` or `)`.
  mutating func logicValue() throws -> String {
    let start = position
    let quotedValue = attempt { scanner -> String? in
      // `try?`: as above.
      guard scanner.next == "\"", let text = try? scanner.quoted() else { return nil }
      return scanner.next == "," || scanner.next == ")" ? text : nil
    }
    if let quotedValue { return quotedValue }
    if next == "{" { return try braced() }
    let value = take { $0 != "," && $0 != ")" }
    guard !isAtEnd else { throw failure("\",\" or \")\"", at: start + value.unicodeScalars.count) }
    return value
  }

  /// `{…}` without braces inside, except in quotes.
  private mutating func braced() throws -> String {
    let start = position
    advance()
    var text = "{"
    while let scalar = next {
      if scalar == "\"" {
        let from = position
        _ = try quoted()
        text += slice(from)
        continue
      }
      guard scalar != "{" else { throw failure("\"}\"") }
      advance()
      text.unicodeScalars.append(scalar)
      if scalar == "}" { return text }
    }
    throw failure("a closing \"}\" for the brace", at: start)
  }
}

/// PostgreSQL's text form of an array of one dimension: `{a,"b,c",null}`.
enum ArrayLiteral {
  /// - Returns: nil for a bare `null`.
  static func elements(of text: String) throws -> [String?] {
    var scanner = Scanner(text, subject: "array literal")
    scanner.skipBlanks()
    try scanner.expect("{")
    var elements: [String?] = []
    scanner.skipBlanks()
    if scanner.skip("}") {
      scanner.skipBlanks()
      try scanner.expectEnd()
      return []
    }
    repeat {
      elements.append(try element(&scanner))
      guard elements.count <= QueryBounds.listMax else {
        throw RestFailure.tooMuch("elements of an array", max: QueryBounds.listMax)
      }
    } while scanner.skip(",")
    try scanner.expect("}")
    scanner.skipBlanks()
    try scanner.expectEnd()
    return elements
  }

  private static func element(_ scanner: inout Scanner) throws -> String? {
    scanner.skipBlanks()
    if scanner.next == "\"" {
      let text = try scanner.quoted()
      scanner.skipBlanks()
      return text
    }
    var view = String.UnicodeScalarView()
    while let scalar = scanner.next, scalar != ",", scalar != "}" {
      guard scalar != "{", scalar != "\"" else { throw scanner.failure("\",\" or \"}\"") }
      scanner.advance()
      if scalar == "\\" {
        guard let escaped = scanner.next else { break }
        scanner.advance()
        view.append(escaped)
      } else {
        view.append(scalar)
      }
    }
    while view.last == " " || view.last == "\t" { view.removeLast() }
    guard !view.isEmpty else { throw scanner.failure("an element of the array") }
    let text = String(view)
    return text.lowercased() == "null" ? nil : text
  }

  static func text(of elements: [String]) -> String {
    "{"
      + elements.map { "\"\($0.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\"" }.joined(separator: ",")
      + "}"
  }
}
