import Database

/// Fields and the order of rows.
extension StatementWriter {
  /// The value of a column of the row, or what a path in its JSON leads to.
  func expression(_ column: Column, at path: [JSONStep], of row: RowName) -> SQL {
    let value = column.expression(row, caller)
    guard let last = path.last else { return value }
    return jsonValue(value, path, isText: last.isText)
  }

  private func jsonValue(_ value: SQL, _ path: [JSONStep], isText: Bool) -> SQL {
    if engine == .sqlite {
      let function: SQL = isText ? "rest_json_text" : "rest_json"
      return "\(function)(\(value), \(JSONStep.text(of: path)))"
    }
    var found: SQL = "(\(value))::json"
    for (index, step) in path.enumerated() {
      let arrow: SQL = isText && index == path.count - 1 ? "->>" : "->"
      switch step.part {
      case .key(let key): found = "\(found) \(arrow) \(key)::text"
      case .index(let position): found = "\(found) \(arrow) \(position)::integer"
      }
    }
    return "(\(found))"
  }

  /// The number that JSON is, null for other JSON.
  func jsonNumber(_ value: SQL) -> SQL {
    choose(
      "rest_json_number(\(value), '[]')",
      postgres: """
        (case json_typeof((\(value))::json) when 'number' then ((\(value))::json #>> '{}')::double precision end)
        """)
  }

  /// Texts are ordered by their code points on both engines.
  func orderable(_ value: SQL, _ type: ColumnType) -> SQL {
    type == .text ? choose(value, postgres: "\(value) collate \"C\"") : value
  }

  func order(of resource: Resource) throws -> SQL {
    let key = resource.table.column(resource.table.key)
    let asked = try resource.orders.flatMap { try terms($0, in: resource) }
    let last = key.map { orderable($0.expression(resource.row, caller), $0.type) } ?? "1"
    return SQL.joined(asked + [last], by: ", ")
  }

  private func terms(_ term: OrderTerm, in resource: Resource) throws -> [SQL] {
    guard let relation = term.relation else {
      return try values(of: term.field, in: resource).map { directed($0, term) }
    }
    guard let embed = resource.embed(relation) else { throw RestFailure.notEmbedded(relation) }
    guard embed.relation.cardinality == .one else {
      throw RestFailure.orderByMany(relation, of: resource.table.name)
    }
    let found = try values(of: term.field, in: embed.resource)
    return try found.map { directed(try related($0, embed, in: resource), term) }
  }

  /// JSON is ordered by its numbers, then by its text.
  private func values(of field: Field, in resource: Resource) throws -> [SQL] {
    let column = try resource.column(of: field)
    let type = try column.type(at: field.path)
    guard type.isJSON || !field.path.isEmpty else { return [orderable(column.order(resource.row, caller), type)] }
    let value = expression(column, at: field.path, of: resource.row)
    guard type.isJSON else { return [orderable(value, type)] }
    guard type == .json else { throw RestFailure.noOperator("<", for: type.name) }
    return [jsonNumber(value), choose(value, postgres: "(\(value))::text collate \"C\"")]
  }

  private func directed(_ value: SQL, _ term: OrderTerm) -> SQL {
    let direction: SQL = term.isDescending ? "desc" : "asc"
    let nulls: SQL = term.areNullsFirst ? "nulls first" : "nulls last"
    return "\(value) \(direction) \(nulls)"
  }
}
