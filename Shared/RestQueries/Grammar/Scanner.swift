/// Reads one parameter of a query from left to right, and says where it cannot go on.
struct Scanner {
  private let text: String
  private let subject: String
  private let scalars: [Unicode.Scalar]
  private(set) var position = 0

  /// - Parameter subject: what is parsed, for the message of a failure.
  init(_ text: String, subject: String) {
    self.text = text
    self.subject = subject
    self.scalars = Array(text.unicodeScalars)
  }

  var isAtEnd: Bool { position == scalars.count }
  var next: Unicode.Scalar? { peek(0) }

  func peek(_ distance: Int) -> Unicode.Scalar? {
    scalars.indices.contains(position + distance) ? scalars[position + distance] : nil
  }

  /// The rest of the text, which is then read.
  mutating func takeRest() -> String {
    defer { position = scalars.count }
    return string(scalars[position...])
  }

  /// What was read since `start`.
  func slice(_ start: Int) -> String { string(scalars[start..<position]) }

  mutating func advance() { position = min(position + 1, scalars.count) }

  /// Reads `word` if it comes next.
  mutating func skip(_ word: String) -> Bool {
    let word = word.unicodeScalars
    guard scalars[position...].starts(with: word) else { return false }
    position += word.count
    return true
  }

  mutating func skipBlanks() {
    while next == " " || next == "\t" { position += 1 }
  }

  mutating func take(while isWanted: (Unicode.Scalar) -> Bool) -> String {
    let start = position
    while let scalar = next, isWanted(scalar) { position += 1 }
    return string(scalars[start..<position])
  }

  mutating func expect(_ word: String) throws {
    guard skip(word) else { throw failure("\"\(word)\"") }
  }

  func expectEnd() throws {
    guard isAtEnd else { throw failure("end of input") }
  }

  /// Tries `parse`, and reads nothing where it returns nil.
  mutating func attempt<T>(_ parse: (inout Scanner) throws -> T?) rethrows -> T? {
    let start = position
    if let value = try parse(&self) { return value }
    position = start
    return nil
  }

  func failure(_ expected: String, at place: Int? = nil) -> RestFailure {
    let place = place ?? position
    let found = scalars.indices.contains(place) ? "\"\(scalars[place])\"" : "end of input"
    return .unparsable(subject, text, column: place + 1, "unexpected \(found) expecting \(expected)")
  }

  func unsupported(_ what: String, at place: Int) -> RestFailure {
    .unsupported(what, in: subject, text, column: place + 1)
  }

  private func string(_ part: ArraySlice<Unicode.Scalar>) -> String {
    // Most texts are ASCII, which is what they are encoded as.
    guard part.allSatisfy(\.isASCII) else {
      var view = String.UnicodeScalarView()
      view.append(contentsOf: part)
      return String(view)
    }
    return String(unsafeUninitializedCapacity: part.count) { bytes in
      for (index, scalar) in part.enumerated() {
        bytes.initializeElement(at: index, to: UInt8(truncatingIfNeeded: scalar.value))
      }
      return part.count
    }
  }
}

/// Names and quoted texts, which every part of the grammar has.
extension Scanner {
  /// Text in double quotes with backslash escapes.
  mutating func quoted() throws -> String {
    let start = position
    try expect("\"")
    var view = String.UnicodeScalarView()
    while let scalar = next {
      position += 1
      if scalar == "\"" { return String(view) }
      if scalar == "\\" {
        guard let escaped = next else { break }
        position += 1
        view.append(escaped)
      } else {
        view.append(scalar)
      }
    }
    throw failure("a closing \"\\\"\" for the quote", at: start)
  }

  /// The name of a column, a table or an alias: letters, digits, `_`, `$`, inner spaces and hyphens, or in quotes.
  mutating func name() throws -> String {
    if next == "\"" { return try quoted() }
    let start = position
    var end = position
    while let scalar = next {
      let isHyphen = scalar == "-" && peek(1) != ">"
      guard Self.isNameScalar(scalar) || isHyphen || scalar == " " else { break }
      position += 1
      if scalar != " " { end = position }
    }
    position = end
    guard end > start else { throw failure("field name (* or [a..z0..9_$])") }
    return string(scalars[start..<end])
  }

  private static func isNameScalar(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "_", "$": true
    default: !scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType == .decimal)
    }
  }

  /// `column->key->0->>key`
  mutating func field() throws -> Field {
    let column = try name()
    return Field(column: column, path: try jsonPath())
  }

  mutating func jsonPath() throws -> [JSONStep] {
    var steps: [JSONStep] = []
    while next == "-", peek(1) == ">" {
      position += 2
      let isText = skip(">")
      steps.append(JSONStep(part: try jsonPathPart(), isText: isText))
      guard steps.count <= QueryBounds.nestingMax else {
        throw RestFailure.tooMuch("steps of a JSON path", max: QueryBounds.nestingMax)
      }
      if isText { break }
    }
    return steps
  }

  private mutating func jsonPathPart() throws -> JSONStep.Part {
    if next == "\"" { return .key(try quoted()) }
    if let index = attempt(Self.index) { return .index(index) }
    let key = take { !"(:.,>)-".unicodeScalars.contains($0) }
    var rest = ""
    while next == "-", peek(1) != ">" {
      position += 1
      rest += "-" + take { !"(:.,>)-".unicodeScalars.contains($0) }
    }
    guard !(key + rest).isEmpty else { throw failure("key of a JSON path") }
    return .key(key + rest)
  }

  private static func index(_ scanner: inout Scanner) -> Int? {
    let sign = scanner.skip("-") ? "-" : ""
    let digits = scanner.take { ("0"..."9").contains($0) }
    let ends = scanner.isAtEnd || "-:.,)(".unicodeScalars.contains { $0 == scanner.next }
    guard !digits.isEmpty, ends else { return nil }
    return Int32(sign + digits).map(Int.init)
  }
}
