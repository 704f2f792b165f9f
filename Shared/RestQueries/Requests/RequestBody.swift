import Wire

/// The rows of a POST or PUT, or the changes of a PATCH: members by column.
package struct RequestBody: Sendable {
  package private(set) var rows: [[String: JSONTree]]
  /// The columns that the rows may have: those of `columns`, or those of every row.
  package private(set) var columns: [String]

  /// - Throws: ``RestFailure`` PGRST102 for what is not of its content type or not an object or array of objects,
  ///   PGRST204 for a column that the table does not have.
  init(_ request: RestRequest, _ query: Query, of table: Table) throws {
    let rows = try Self.rows(request)
    guard rows.count <= QueryBounds.bodyRowsMax else { throw RestFailure.tooManyRows(max: QueryBounds.bodyRowsMax) }
    columns = try query.columns ?? Self.commonColumns(rows)
    if let unknown = columns.first(where: { table.column($0) == nil && !table.nested.contains($0) }) {
      throw RestFailure.unknownBodyColumn(unknown, of: table.name)
    }
    let wanted = Set(columns)
    self.rows = rows.map { row in
      var kept: [String: JSONTree] = [:]
      for member in row where wanted.contains(member.name) { kept[member.name] = member.value }
      return kept
    }
  }

  /// Sets a member of every row, whatever the client has sent.
  package mutating func set(_ column: String, to value: ([String: JSONTree]) throws -> JSONTree) rethrows {
    rows = try rows.map { row in
      var row = row
      row[column] = try value(row)
      return row
    }
    if !columns.contains(column) { columns.append(column) }
  }

  private static func rows(_ request: RestRequest) throws -> [[JSONTree.Member]] {
    guard let type = request.contentType else { return try objects(request.body) }
    switch type.split(separator: ";").first?.filter({ $0 != " " }).lowercased() ?? "" {
    case "application/json", "application/vnd.pgrst.object+json", "*/*": return try objects(request.body)
    case "text/csv": return try CSVTable(request.body).rows
    case "application/x-www-form-urlencoded":
      return [
        try URLParameters(try text(request.body)).all.map { JSONTree.Member(name: $0.name, value: .string($0.value)) }
      ]
    default: throw RestFailure.unacceptableBody(type)
    }
  }

  /// - Throws: ``RestFailure`` PGRST102 for bytes that are not UTF-8.
  static func text(_ body: [UInt8]) throws -> String {
    guard let text = String(validating: body, as: UTF8.self) else { throw RestFailure.invalidJSON }
    return text
  }

  /// A body that is neither an object nor an array has no rows.
  private static func objects(_ body: [UInt8]) throws -> [[JSONTree.Member]] {
    // `try?`: why it is not JSON is of no use to a client.
    guard let tree = try? JSONReader.tree(of: body) else { throw RestFailure.invalidJSON }
    switch tree {
    case .object(let members): return [members]
    case .array(let elements):
      return try elements.map { element in
        guard case .object(let members) = element else { throw RestFailure.invalidJSON }
        return members
      }
    default: return []
    }
  }

  private static func commonColumns(_ rows: [[JSONTree.Member]]) throws -> [String] {
    guard let first = rows.first?.map(\.name) else { return [] }
    let names = Set(first)
    guard rows.allSatisfy({ Set($0.map(\.name)) == names }) else { throw RestFailure.differentKeys }
    return first
  }
}
