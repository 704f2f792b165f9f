import Database

/// Writes the SQL of a resource for one caller on one engine. Names come from declarations, values become bindings.
struct StatementWriter {
  let engine: Engine
  let caller: Caller

  func choose(_ sqlite: SQL, postgres: SQL) -> SQL { engine == .sqlite ? sqlite : postgres }

  /// The page that the resource asks for.
  ///
  /// - Parameters:
  ///   - isKeyed: whether the first column is the row's key.
  ///   - restriction: a further condition.
  func select(_ resource: Resource, isKeyed: Bool = false, where restriction: SQL? = nil) throws -> SQL {
    let known = isKeyed ? nil : resource.columnList
    let columns = known == nil ? try pageColumns(of: resource, isKeyed: isKeyed) : []
    let list = known ?? SQL.joined(columns.map { "\($0.value) as \($0.name)" }, by: ", ")
    let condition = try condition(of: resource)
    let page: SQL = """
      select \(list) from \(resource.table.source) \(resource.row.name) \
      where \(restriction.map { "\($0) and \(condition)" } ?? condition)\(try paging(of: resource))
      """
    return resource.embedsMany ? bounded(page, columns) : page
  }

  private func pageColumns(of resource: Resource, isKeyed: Bool) throws -> [PageColumn] {
    var columns = try resource.outputs.enumerated().compactMap { index, output -> PageColumn? in
      guard let cell = try cell(output, of: resource) else { return nil }
      let isEmbedded = if case .embed = output { true } else { false }
      return PageColumn(name: SQL(stringLiteral: "c\(index)"), value: cell, isEmbedded: isEmbedded)
    }
    if isKeyed {
      let key: SQL = "\(resource.row.name).\(resource.table.storedKey)"
      columns.insert(PageColumn(name: "key", value: key, isEmbedded: false), at: 0)
    }
    return columns.isEmpty ? [PageColumn(name: "c0", value: "null", isEmbedded: false)] : columns
  }

  /// The number of rows on all pages.
  func count(_ resource: Resource) throws -> SQL {
    "select count(*) as total from \(resource.table.source) \(resource.row.name) where \(try condition(of: resource))"
  }

  /// Who sees the row, and what the query asks of it.
  func condition(of resource: Resource) throws -> SQL {
    let sees = resource.table.access.sees(resource.row, caller)
    let asked = try resource.conditions.map { try condition($0, in: resource) }
    let embedded = try resource.embeds.filter(\.isInner).map { try exists($0, in: resource) }
    guard !asked.isEmpty || !embedded.isEmpty else { return "(\(sees))" }
    return "(\(sees)) and \(SQL.joined(asked + embedded, by: " and "))"
  }

  /// Whether an embedded resource has a row.
  func exists(_ embed: Embed, in resource: Resource) throws -> SQL {
    let row = embed.resource.row
    return """
      exists (select 1 from \(embed.resource.table.source) \(row.name) where \(joining(embed, to: resource)) \
      and \(try condition(of: embed.resource)))
      """
  }

  /// A value of the one row of an embedded resource, null when there is none.
  func related(_ value: SQL, _ embed: Embed, in resource: Resource) throws -> SQL {
    let inner = embed.resource
    return """
      (select \(value) from \(inner.table.source) \(inner.row.name) where \(joining(embed, to: resource)) \
      and \(try condition(of: inner)) limit 1)
      """
  }

  private func joining(_ embed: Embed, to resource: Resource) -> SQL {
    let own = resource.table.column(embed.relation.column)?.expression(resource.row, caller) ?? "null"
    let other =
      embed.resource.table.column(embed.relation.targetColumn)?.expression(embed.resource.row, caller) ?? "null"
    guard let link = embed.link, let relation = embed.relation.link,
      let near = link.table.column(relation.column)?.expression(link.row, caller),
      let far = link.table.column(relation.targetColumn)?.expression(link.row, caller)
    else { return "\(other) = \(own)" }
    return """
      \(other) in (select \(far) from \(link.table.source) \(link.row.name) where \(near) = \(own) \
      and (\(link.table.access.sees(link.row, caller))))
      """
  }

  func paging(of resource: Resource) throws -> SQL {
    resource.isCount ? "" : " \(try orderAndLimit(of: resource))"
  }

  /// The order ends with the key, so that pages neither repeat nor skip a row. The first page has a statement of its
  /// own: PostgreSQL assumes that an unknown offset skips a tenth of the rows, so that a plan without one always looks
  /// cheaper, and would plan each call anew.
  func orderAndLimit(of resource: Resource) throws -> SQL {
    let limit = min(resource.limit ?? QueryBounds.rowsMax, QueryBounds.rowsMax)
    let first: SQL = "order by \(try order(of: resource)) limit \(limit)"
    return resource.offset == 0 ? first : "\(first) offset \(resource.offset)"
  }

  /// - Returns: nil for a resource that is only joined.
  private func cell(_ output: Output, of resource: Resource) throws -> SQL? {
    switch output {
    case .column(let output): return expression(output.column, at: output.path, of: resource.row)
    case .count: return "count(*)"
    case .embed(let index):
      let embed = resource.embeds[index]
      return embed.resource.outputs.isEmpty ? nil : try array(of: embed, in: resource)
    }
  }

  /// The cells of an embedded row as a JSON array, or an array of those of all its rows.
  private func array(of embed: Embed, in resource: Resource) throws -> SQL {
    let inner = embed.resource
    let cells = try inner.outputs.compactMap { try jsonCell($0, of: inner) }
    let list = SQL.joined(cells, by: ", ")
    let function = choose("json_array", postgres: "json_build_array")
    let rows: SQL = """
      select \(function)(\(list)) as cells from \(inner.table.source) \(inner.row.name) \
      where \(joining(embed, to: resource)) and \(try condition(of: inner))\(try paging(of: inner))
      """
    if embed.relation.cardinality == .one { return choose("json((\(rows)))", postgres: "(\(rows))") }
    return choose(
      "json((select json_group_array(json(r.cells)) from (\(rows)) r))",
      postgres: "(select coalesce(json_agg(r.cells), '[]'::json) from (\(rows)) r)")
  }

  /// A value within a JSON array: text, except for what both engines write alike.
  private func jsonCell(_ output: Output, of resource: Resource) throws -> SQL? {
    guard let cell = try cell(output, of: resource) else { return nil }
    guard case .column(let column) = output else { return cell }
    switch column.type {
    case .integer, .boolean: return cell
    case .number: return choose("rest_number_text(\(cell))", postgres: "(\(cell))::text")
    default: return choose(cell, postgres: "(\(cell))::text")
    }
  }
}
