import Wire

/// A query compared with the declaration of its table: every name in it is a column or a relation.
struct Resource: Sendable {
  let table: Table
  let row: RowName
  var outputs: [Output] = []
  /// Whether the outputs are the table's: `*` alone.
  var isWhole = false
  var embeds: [Embed] = []
  var conditions: [Condition] = []
  var orders: [OrderTerm] = []
  var limit: Int?
  var offset = 0
  /// Only the number of rows is asked for.
  var isCount = false
}

/// One member of an answer's objects.
enum Output: Sendable {
  case column(OutputColumn)
  case count(name: String, Cast?)
  /// The index of the embedded resource.
  case embed(Int)
}

/// A column, or a value in its JSON, as a member of an answer's objects.
struct OutputColumn: Sendable {
  /// Of the member.
  let name: String
  let column: Column
  let path: [JSONStep]
  /// Of the value that is selected, before it is cast.
  let type: ColumnType
  let cast: Cast?
  /// `,"name":`
  let memberStart: [UInt8]

  init(name: String, column: Column, path: [JSONStep], type: ColumnType, cast: Cast?) {
    self.name = name
    self.column = column
    self.path = path
    self.type = type
    self.cast = cast
    memberStart = JSONTree.memberStart(name)
  }
}

extension JSONTree {
  /// The beginning of a member that follows another: `,"name":`.
  static func memberStart(_ name: String) -> [UInt8] {
    var start = [UInt8(ascii: ",")]
    write(name, to: &start)
    start.append(UInt8(ascii: ":"))
    return start
  }
}

extension OutputColumn {
  init(_ column: Column) { self.init(name: column.name, column: column, path: [], type: column.type, cast: nil) }
}

/// A resource within another.
struct Embed: Sendable {
  let name: String
  /// The name that was written, by which it is found when no alias has that name.
  let writtenName: String
  let relation: Relation
  /// The table between the two, of a relation of many to many.
  let link: (table: Table, row: RowName)?
  let isInner: Bool
  let isSpread: Bool
  var resource: Resource
}

extension Resource {
  /// - Throws: ``RestFailure`` for names that the tables do not have.
  init(_ query: Query, of table: Table, in schema: RestSchema) throws {
    var counter = 0
    try self.init(query.selection, of: table, at: [], in: schema, counter: &counter)
    for condition in query.conditions {
      try change(at: condition.path[...]) { $0.conditions.append(condition.part) }
    }
    for order in query.orders { try change(at: order.path[...]) { $0.orders += order.part } }
    for limit in query.limits {
      guard limit.part >= 0 else { throw RestFailure.badRange("Limit should be greater than or equal to zero.") }
      try change(at: limit.path[...]) { $0.limit = limit.part }
    }
    for offset in query.offsets {
      guard (0...QueryBounds.offsetMax).contains(offset.part) else {
        throw RestFailure.badRange("Offset should be from zero to \(QueryBounds.offsetMax).")
      }
      try change(at: offset.path[...]) { $0.offset = offset.part }
    }
  }

  /// - Parameter path: the tables that embed it, the outermost first.
  private init(
    _ items: [SelectItem], of table: Table, at path: [String], in schema: RestSchema, counter: inout Int
  ) throws {
    self.init(table: table, row: RowName(alias: "t\(counter)"))
    counter += 1
    guard counter <= QueryBounds.resourcesMax else {
      throw RestFailure.tooMuch("embedded resources", max: QueryBounds.resourcesMax)
    }
    for item in items {
      switch item {
      case .column(let column): try add(column)
      case .embed(let embed): try add(embed, at: path + [table.name], in: schema, counter: &counter)
      }
    }
    guard outputs.count <= QueryBounds.selectedColumnsMax else {
      throw RestFailure.tooMuch("selected columns", max: QueryBounds.selectedColumnsMax)
    }
    isWhole = items == [.column(.all)]
    isCount = outputs.contains { if case .count = $0 { true } else { false } }
    // A number of rows beside their columns would be a grouping.
    guard !isCount || outputs.count == 1 else { throw RestFailure.aggregatesOff }
  }

  private mutating func add(_ selected: SelectedColumn) throws {
    if selected == .all {
      outputs = outputs.isEmpty ? table.outputs : outputs + table.outputs
      return
    }
    let cast = try selected.cast.map(Cast.init)
    let isCountWord = selected.field == Field(column: "count") && table.column("count") == nil
    guard !selected.isCount, !isCountWord else {
      outputs.append(.count(name: selected.alias ?? "count", cast))
      return
    }
    let field = selected.field
    let column = try column(of: field)
    let output = OutputColumn(
      name: selected.alias ?? field.outputName, column: column, path: field.path,
      type: try column.type(at: field.path), cast: cast)
    outputs.append(.column(output))
  }

  private mutating func add(
    _ selected: SelectedEmbed, at path: [String], in schema: RestSchema, counter: inout Int
  ) throws {
    let relation = try schema.relation(from: table, to: selected.name, hint: selected.hint)
    // Rows within themselves would multiply with each level.
    guard !path.contains(relation.target) else {
      throw RestFailure.embeddedInItself(relation.target, at: path + [selected.name])
    }
    guard !selected.isSpread || relation.cardinality == .one else {
      throw RestFailure.spreadOfMany(selected.name, of: table.name)
    }
    let resource = try Resource(
      selected.items, of: try schema.table(relation.target), at: path, in: schema, counter: &counter)
    let link = try relation.link.map { try (table: schema.table($0.table), row: RowName(alias: "l\(counter)")) }
    outputs.append(.embed(embeds.count))
    embeds.append(
      Embed(
        name: selected.alias ?? selected.name, writtenName: selected.name, relation: relation, link: link,
        isInner: selected.isInner, isSpread: selected.isSpread, resource: resource))
  }

  private mutating func change(at path: ArraySlice<String>, _ change: (inout Resource) -> Void) throws {
    guard let name = path.first else { return change(&self) }
    guard let index = embedIndex(name) else { throw RestFailure.notEmbedded(name) }
    try embeds[index].resource.change(at: path.dropFirst(), change)
  }

  private func embedIndex(_ name: String) -> Int? {
    embeds.firstIndex { $0.name == name } ?? embeds.firstIndex { $0.writtenName == name }
  }

  func embed(_ name: String) -> Embed? { embedIndex(name).map { embeds[$0] } }

  func column(of field: Field) throws -> Column {
    guard let column = table.column(field.column) else {
      throw RestFailure.unknownColumn(field.column, of: table.name)
    }
    return column
  }
}

extension Column {
  /// The type of the column, or of what a JSON path gives.
  func type(at path: [JSONStep]) throws -> ColumnType {
    guard let last = path.last else { return type }
    guard type.isJSON else { throw RestFailure.noOperator(last.isText ? "->>" : "->", for: type.name) }
    return last.isText ? .text : .json
  }
}

extension Field {
  /// The last key of the path, or the column.
  fileprivate var outputName: String {
    for step in path.reversed() {
      if case .key(let key) = step.part { return key }
    }
    return column
  }
}
