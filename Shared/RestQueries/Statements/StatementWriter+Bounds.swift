import Database

/// A column of a page.
struct PageColumn {
  let name: SQL
  let value: SQL
  /// Whether it is the JSON of embedded rows.
  let isEmbedded: Bool
}

/// Bounds an answer whose rows have other rows in them: each array has a bound, but there is one in each row, and in
/// each of those. Other rows are bounded as they are read.
extension StatementWriter {
  /// The page up to the row by which what is embedded becomes too large. That row is without it, and its last column is
  /// 1; that of the others is 0.
  func bounded(_ page: SQL, _ columns: [PageColumn]) -> SQL {
    let max = SQL(stringLiteral: String(QueryBounds.answerBytesMax))
    let sizes = columns.filter(\.isEmbedded).map { column -> SQL in
      choose(
        "coalesce(length(cast(page.\(column.name) as blob)), 0)",
        postgres: "coalesce(octet_length((page.\(column.name))::text), 0)::bigint")
    }
    let size = SQL.joined(sizes, by: " + ")
    let shown = columns.map { column -> SQL in
      column.isEmbedded
        ? "case when sized.bytes > \(max) then null else sized.\(column.name) end as \(column.name)"
        : "sized.\(column.name)"
    }
    return """
      select \(SQL.joined(shown, by: ", ")), case when sized.bytes > \(max) then 1 else 0 end as is_over from (\
      select page.*, \(size) as size, sum(\(size)) over (rows unbounded preceding) as bytes from (\(page)) page) sized \
      where sized.bytes - sized.size <= \(max)
      """
  }
}

extension Row {
  /// Whether it is the row by which a page becomes too large: its last column says so.
  var isOver: Bool { self[columnCount - 1] == .integer(1) }
}

extension Resource {
  /// Whether each of its rows has an array of rows, or has one in the row that it embeds.
  var embedsMany: Bool {
    !outputs.isEmpty
      && embeds.contains { embed in
        let isArray = embed.relation.cardinality == .many && !embed.resource.isCount
        return !embed.resource.outputs.isEmpty && (isArray || embed.resource.embedsMany)
      }
  }

  /// - Parameter rows: of a page of this resource.
  /// - Throws: ``RestFailure`` 54000 when what they embed is too large.
  func requireBounded(_ rows: [Row]) throws {
    guard embedsMany, rows.last?.isOver == true else { return }
    throw RestFailure.answerTooLarge
  }
}
