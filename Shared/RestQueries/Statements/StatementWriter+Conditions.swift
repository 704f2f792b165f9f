import Database
import Wire

/// Conditions.
extension StatementWriter {
  func condition(_ condition: Condition, in resource: Resource) throws -> SQL {
    switch condition {
    case .not(let inner): return "not \(try self.condition(inner, in: resource))"
    case .and(let parts): return try joined(parts, by: " and ", in: resource)
    case .or(let parts): return try joined(parts, by: " or ", in: resource)
    case .filter(let filter):
      let test = try test(filter, in: resource)
      return filter.isNegated ? "(not \(test))" : test
    }
  }

  private func joined(_ parts: [Condition], by word: String, in resource: Resource) throws -> SQL {
    let list = SQL.joined(try parts.map { try condition($0, in: resource) }, by: word)
    return "(\(list))"
  }

  private func test(_ filter: Filter, in resource: Resource) throws -> SQL {
    let field = filter.field
    if resource.table.column(field.column) == nil, let embed = resource.embed(field.column) {
      return try existence(embed, filter.test, in: resource)
    }
    let column = try resource.column(of: field)
    let type = try column.type(at: field.path)
    let value = expression(column, at: field.path, of: resource.row)
    switch filter.test {
    case .compare(let comparison, let text): return try compare(Operand(value, type), comparison, text)
    case .compareEach(let comparison, let quantifier, let texts):
      let operand = Operand(value, type)
      let parts = try texts.map { text in try text.map { try compare(operand, comparison, $0) } ?? "null" }
      guard !parts.isEmpty else { return quantifier == .any ? "false" : "true" }
      return "(\(SQL.joined(parts, by: quantifier == .any ? " or " : " and ")))"
    case .isWord(let word): return try isWord(word, value, type)
    case .isIn(let texts): return try isIn(texts, value, type)
    case .contains(let text): return try contains(value, type, text)
    case .containedBy(let text): return try contained(value, type, text)
    case .overlaps(let text): return try overlaps(value, type, text)
    }
  }

  /// `resource=is.null`: whether a row has an embedded one.
  private func existence(_ embed: Embed, _ test: Test, in resource: Resource) throws -> SQL {
    switch test {
    case .isWord(.null): return "(not \(try exists(embed, in: resource)))"
    case .isWord(.notNull): return try exists(embed, in: resource)
    default: throw RestFailure.embedFilter(embed.name)
    }
  }

  private func isWord(_ word: IsWord, _ value: SQL, _ type: ColumnType) throws -> SQL {
    if word == .null { return "(\(value) is null)" }
    if word == .notNull { return "(\(value) is not null)" }
    guard type == .boolean else { throw RestFailure.notBoolean(word.rawValue, type: type.name) }
    switch word {
    case .true: return "(\(value) is true)"
    case .false: return "(\(value) is false)"
    default: return "(\(value) is null)"
    }
  }

  /// One binding, however long the list is, so that the statement is the same.
  private func isIn(_ texts: [String], _ value: SQL, _ type: ColumnType) throws -> SQL {
    guard !type.isJSON else { throw RestFailure.noOperator("=", for: type.name) }
    guard texts != [""] else { return "false" }
    let values = try texts.map { try type.value(ofText: $0) }
    if engine == .postgres {
      let list = ArrayLiteral.text(of: values.map { $0.text ?? "" })
      return "(\(value) = any(\(list)::\(SQL(stringLiteral: type.name))[]))"
    }
    let list = JSONTree.array(
      values.map { value in
        if case .integer(let number) = value { return .number(String(number)) }
        return type == .number ? .number(value.text ?? "0") : .string(value.text ?? "")
      })
    return "(\(value) in (select value from json_each(\(list.text))))"
  }

  private func contains(_ value: SQL, _ type: ColumnType, _ text: String) throws -> SQL {
    let other = try jsonText(text, type, operator: "@>")
    return choose(
      "rest_json_contains(\(value), \(other))", postgres: "((\(value))::jsonb @> \(other)::jsonb)")
  }

  private func contained(_ value: SQL, _ type: ColumnType, _ text: String) throws -> SQL {
    let other = try jsonText(text, type, operator: "<@")
    return choose(
      "rest_json_contains(\(other), \(value))", postgres: "((\(value))::jsonb <@ \(other)::jsonb)")
  }

  private func overlaps(_ value: SQL, _ type: ColumnType, _ text: String) throws -> SQL {
    guard type.isArray else { throw RestFailure.noOperator("&&", for: type.name) }
    let other = try type.array(ofLiteral: text)
    return choose(
      """
      (case when \(value) is not null then exists \
      (select 1 from json_each(\(value)) o where o.value in (select value from json_each(\(other)))) end)
      """,
      postgres: "((\(value))::jsonb ?| array(select json_array_elements_text(\(other)::json)))")
  }

  private func jsonText(_ text: String, _ type: ColumnType, operator name: String) throws -> String {
    guard type.isJSON else { throw RestFailure.noOperator(name, for: type.name) }
    return try jsonText(text, type)
  }

  /// The JSON with which a row's is compared.
  func jsonText(_ text: String, _ type: ColumnType) throws -> String {
    guard type == .json else { return try type.array(ofLiteral: text) }
    let tree = try ColumnType.json(text)
    guard tree.valueCount <= QueryBounds.jsonValuesMax else {
      throw RestFailure.tooMuch("values in JSON", max: QueryBounds.jsonValuesMax)
    }
    return tree.text
  }
}
