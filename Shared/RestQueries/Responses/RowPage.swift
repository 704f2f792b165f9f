import Database

/// The rows of an answer, which are written as JSON or CSV.
struct RowPage {
  let resource: Resource
  /// Without their keys.
  let rows: [ArraySlice<Value>]

  func body(_ format: AnswerFormat) throws -> [UInt8] {
    if format == .csv { return try csv() }
    var output: [UInt8] = []
    let writer = RowWriter(isStripped: format.isStripped)
    if !format.isObject { output.append(UInt8(ascii: "[")) }
    for (index, row) in rows.enumerated() {
      if index > 0 { output.append(UInt8(ascii: ",")) }
      try writer.write(row.map(Cell.value), of: resource, to: &output)
    }
    if !format.isObject { output.append(UInt8(ascii: "]")) }
    return output
  }

  /// RFC 4180 with line feeds, as PostgreSQL writes it.
  private func csv() throws -> [UInt8] {
    let writer = RowWriter(isStripped: false)
    var lines = [writer.names(of: resource).map(Self.quoted).joined(separator: ",")]
    for row in rows {
      let texts = try writer.texts(of: row.map(Cell.value), resource)
      lines.append(texts.map { $0.map(Self.quoted) ?? "" }.joined(separator: ","))
    }
    return Array(lines.joined(separator: "\n").utf8)
  }

  private static func quoted(_ text: String) -> String {
    let isSafe = !text.isEmpty && !text.utf8.contains { ",\"\r\n".utf8.contains($0) }
    return isSafe ? text : "\"\(text.replacing("\"", with: "\"\""))\""
  }
}
