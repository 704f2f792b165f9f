import Database

/// The rows of an answer, which are written as JSON or CSV.
struct RowPage {
  let resource: Resource
  let rows: [Row]
  /// How many columns the rows have before those of the answer.
  var columnsBefore = 0

  func body(_ format: AnswerFormat) throws -> [UInt8] {
    let writer = RowWriter(resource, isStripped: format.isStripped)
    if format == .csv { return try csv(writer) }
    var output: [UInt8] = []
    output.reserveCapacity(rows.count * resource.outputs.count * Self.memberBytes)
    if !format.isObject { output.append(UInt8(ascii: "[")) }
    for (index, row) in rows.enumerated() {
      if index > 0 { output.append(UInt8(ascii: ",")) }
      try writer.write(row, from: columnsBefore, to: &output)
    }
    if !format.isObject { output.append(UInt8(ascii: "]")) }
    return output
  }

  /// About what a member takes.
  private static let memberBytes = 32

  /// RFC 4180 with line feeds, as PostgreSQL writes it.
  private func csv(_ writer: RowWriter) throws -> [UInt8] {
    var output = Array(writer.names.map(Self.quoted).joined(separator: ",").utf8)
    for row in rows {
      let texts = try writer.texts(of: row.values.dropFirst(columnsBefore).map(Cell.value))
      output += "\n".utf8
      output += texts.map { $0.map(Self.quoted) ?? "" }.joined(separator: ",").utf8
      guard output.count <= QueryBounds.answerBytesMax else { throw RestFailure.answerTooLarge }
    }
    return output
  }

  private static func quoted(_ text: String) -> String {
    let isSafe = !text.isEmpty && !text.utf8.contains { ",\"\r\n".utf8.contains($0) }
    return isSafe ? text : "\"\(text.replacing("\"", with: "\"\""))\""
  }
}
