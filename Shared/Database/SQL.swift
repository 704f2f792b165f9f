/// A statement whose interpolated values become bindings `$1`, `$2`, … and never part of the text.
///
/// ```swift
/// try db.change("update account set name = \(name) where id = \(id)")
/// ```
package struct SQL: Sendable, ExpressibleByStringInterpolation {
  package let text: String
  package let bindings: [Value]
  /// The lengths in bytes of the pieces of `text` before each placeholder.
  private let piecesBefore: [Int]
  /// False for a statement whose text depends on a request: connections do not keep it prepared beyond a bound.
  package private(set) var isRepeated = true
  /// How many bytes its rows may have together (``Row/byteCount``); nil without a bound.
  package private(set) var resultBytesMax: Int?

  package init(stringLiteral text: String) {
    self.init(text: text, bindings: [], piecesBefore: [])
  }

  package init(stringInterpolation interpolation: StringInterpolation) {
    self.init(
      text: interpolation.text, bindings: interpolation.bindings, piecesBefore: interpolation.piecesBefore)
  }

  private init(text: String, bindings: [Value], piecesBefore: [Int]) {
    self.text = text
    self.bindings = bindings
    self.piecesBefore = piecesBefore
  }

  /// The statement behind a keyword, such as `explain`.
  package func preceded(by keyword: StaticString) -> SQL { "\(SQL(stringLiteral: "\(keyword)")) \(self)" }

  /// The same statement, composed for one request.
  package var composedForRequest: SQL {
    var statement = self
    statement.isRepeated = false
    return statement
  }

  /// The same statement, whose rows are read only up to a number of bytes: one that has more of them fails.
  package func bounded(toBytes max: Int) -> SQL {
    var statement = self
    statement.resultBytesMax = max
    return statement
  }

  /// Fragments, with `separator` between them.
  package static func joined(_ fragments: [SQL], by separator: String) -> SQL {
    var joined = StringInterpolation(literalCapacity: 64 * fragments.count, interpolationCount: fragments.count)
    for (index, fragment) in fragments.enumerated() {
      if index > 0 { joined.appendLiteral(separator) }
      joined.appendInterpolation(fragment)
    }
    return SQL(stringInterpolation: joined)
  }

  /// The bytes of `$1`, `$2`, ….
  private static func placeholderLength(_ number: Int) -> Int { 1 + String(number).utf8.count }

  package struct StringInterpolation: StringInterpolationProtocol {
    var text = ""
    var bindings: [Value] = []
    var piecesBefore: [Int] = []
    private var pieceStart = 0
    private let interpolationCount: Int
    /// Of what is interpolated: most values are placeholders, fragments are longer.
    private static let usualBytes = 16
    private static let placeholders = (1...64).map { "$\($0)" }

    package init(literalCapacity: Int, interpolationCount: Int) {
      self.interpolationCount = interpolationCount
      text.reserveCapacity(literalCapacity + Self.usualBytes * interpolationCount)
    }

    package mutating func appendLiteral(_ literal: String) { text += literal }

    package mutating func appendInterpolation(_ value: some Bindable) { bind(value.binding) }

    package mutating func appendInterpolation(_ value: (some Bindable)?) { bind(value?.binding ?? .null) }

    /// A fragment that several statements share, or a part of a statement, whose bindings are numbered anew.
    package mutating func appendInterpolation(_ fragment: SQL) {
      guard !fragment.bindings.isEmpty else { return text += fragment.text }
      let source = fragment.text
      var start = source.utf8.startIndex
      for (index, binding) in fragment.bindings.enumerated() {
        let end = source.utf8.index(start, offsetBy: fragment.piecesBefore[index])
        text.append(contentsOf: source[start..<end])
        bind(binding)
        start = source.utf8.index(end, offsetBy: SQL.placeholderLength(index + 1))
      }
      text.append(contentsOf: source[start...])
    }

    private mutating func bind(_ value: Value) {
      // Not before: most parts of a composed statement have no bindings.
      if bindings.isEmpty {
        bindings.reserveCapacity(interpolationCount)
        piecesBefore.reserveCapacity(interpolationCount)
      }
      bindings.append(value)
      piecesBefore.append(text.utf8.count - pieceStart)
      text += bindings.count <= Self.placeholders.count ? Self.placeholders[bindings.count - 1] : "$\(bindings.count)"
      pieceStart = text.utf8.count
    }

    /// The values of an `in (…)` list. An empty list matches no row.
    package mutating func appendInterpolation(list values: some Collection<some Bindable>) {
      guard !values.isEmpty else { return text += "null" }
      for (index, value) in values.enumerated() {
        if index > 0 { text += ", " }
        appendInterpolation(value)
      }
    }

    /// Fragments such as the rows after `values`, with commas between them. Each number of rows is a statement of its
    /// own (``Swift/Array/statementChunks``).
    package mutating func appendInterpolation(rows: some Collection<SQL>) {
      for (index, row) in rows.enumerated() {
        if index > 0 { text += ", " }
        appendInterpolation(row)
      }
    }
  }
}

extension Array {
  /// The elements in slices of 64, 32, 16, … 1, so that statements for several rows have few lengths: each length is a
  /// prepared statement of its own.
  package var statementChunks: [ArraySlice<Element>] {
    var (chunks, rest) = ([ArraySlice<Element>](), self[...])
    var length = 64
    while !rest.isEmpty {
      while length > rest.count { length /= 2 }
      chunks.append(rest.prefix(length))
      rest = rest.dropFirst(length)
    }
    return chunks
  }
}
