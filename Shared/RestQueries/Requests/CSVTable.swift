import Wire

/// A body of type `text/csv` (RFC 4180): a line of names, then a line for each row. A field `NULL` is null.
struct CSVTable {
  let rows: [[JSONTree.Member]]

  /// - Throws: ``RestFailure`` PGRST102 for lines of different lengths, and for quotes that are not closed.
  init(_ body: [UInt8]) throws {
    var lines = try Self.lines(try RequestBody.text(body))
    guard !lines.isEmpty else { throw RestFailure.invalidJSON }
    let names = lines.removeFirst()
    guard Set(names).count == names.count else { throw RestFailure.differentKeys }
    rows = try lines.map { fields in
      guard fields.count == names.count else { throw RestFailure.differentFieldCounts }
      return zip(names, fields).map { name, text in
        JSONTree.Member(name: name, value: text == "NULL" ? .null : .string(text))
      }
    }
  }

  /// The fields of each line that is not empty. A line break within quotes belongs to its field.
  private static func lines(_ text: String) throws -> [[String]] {
    guard !text.utf8.contains(0) else { throw RestFailure.nulInText }
    var lines: [[String]] = []
    var fields: [String] = []
    var scalars = text.unicodeScalars[...]
    while !scalars.isEmpty {
      fields.append(try field(&scalars))
      if scalars.first == "," {
        scalars.removeFirst()
        // A comma at the very end is followed by an empty field.
        if scalars.isEmpty { fields.append("") } else { continue }
      }
      skipLineBreak(&scalars)
      if fields != [""] { lines.append(fields) }
      guard lines.count <= QueryBounds.bodyRowsMax + 1 else {
        throw RestFailure.tooManyRows(max: QueryBounds.bodyRowsMax)
      }
      fields = []
    }
    return lines
  }

  private static func field(_ scalars: inout Substring.UnicodeScalarView) throws -> String {
    guard scalars.first == "\"" else {
      let end = scalars.firstIndex { $0 == "," || $0 == "\n" || $0 == "\r" } ?? scalars.endIndex
      defer { scalars = scalars[end...] }
      return String(scalars[..<end])
    }
    scalars.removeFirst()
    var text = String.UnicodeScalarView()
    while let scalar = scalars.popFirst() {
      if scalar != "\"" {
        text.append(scalar)
      } else if scalars.first == "\"" {
        scalars.removeFirst()
        text.append(scalar)
      } else {
        guard scalars.isEmpty || scalars.first == "," || scalars.first == "\n" || scalars.first == "\r" else { break }
        return String(text)
      }
    }
    throw RestFailure.invalidJSON
  }

  private static func skipLineBreak(_ scalars: inout Substring.UnicodeScalarView) {
    if scalars.first == "\r" { scalars.removeFirst() }
    if scalars.first == "\n" { scalars.removeFirst() }
  }
}
