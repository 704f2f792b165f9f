import Database
import Wire

/// A value of a row: as the database returned it, or within the JSON of an embedded row.
enum Cell {
  case value(Value)
  case tree(JSONTree)

  var value: Value {
    switch self {
    case .value(let value): value
    case .tree(.null): .null
    case .tree(.bool(let value)): .integer(value ? 1 : 0)
    case .tree(.number(let digits)): Int64(digits).map(Value.integer) ?? .text(digits)
    case .tree(let tree): .text(tree.plainText ?? "")
    }
  }

  /// The rows of an embedded resource, or the one row.
  func tree() throws -> JSONTree {
    switch self {
    case .tree(.string(let text)): try JSONReader.tree(of: text)
    case .tree(let tree): tree
    case .value(.text(let text)): try JSONReader.tree(of: text)
    case .value: .null
    }
  }
}

/// Writes the rows of a resource as JSON objects. Both engines return the same values, and only this code knows how they
/// look. What all rows have in common is prepared once.
struct RowWriter {
  /// A member of each object.
  private struct Member {
    enum Kind {
      case column(ColumnType, Cast?)
      case count(Cast)
      case one(RowWriter)
      case many(RowWriter)
      /// The members of one row are members of the object.
      case spread(RowWriter)
    }

    let name: String
    /// `,"name":`
    let start: [UInt8]
    let kind: Kind

    init(_ column: OutputColumn) {
      name = column.name
      start = column.memberStart
      kind = .column(column.type, column.cast)
    }

    init(_ name: String, _ kind: Kind) {
      self.name = name
      self.start = JSONTree.memberStart(name)
      self.kind = kind
    }
  }

  private let members: [Member]
  private let isStripped: Bool

  /// - Parameter isStripped: whether members that are null are left out.
  init(_ resource: Resource, isStripped: Bool) {
    self.isStripped = isStripped
    members = resource.outputs.compactMap { output -> Member? in
      switch output {
      case .column(let column): return Member(column)
      case .count(let name, let cast): return Member(name, .count(cast ?? .integer))
      case .embed(let index):
        let embed = resource.embeds[index]
        // One that is only joined is not shown.
        guard !embed.resource.outputs.isEmpty else { return nil }
        let writer = RowWriter(embed.resource, isStripped: isStripped)
        if embed.isSpread { return Member(embed.name, .spread(writer)) }
        return Member(embed.name, embed.relation.cardinality == .one ? .one(writer) : .many(writer))
      }
    }
  }

  /// - Parameter first: the column of the first member.
  /// - Throws: ``RestFailure`` 54000 when the output becomes too large: names are in each object, also in embedded ones.
  func write(_ row: Row, from first: Int, to output: inout [UInt8]) throws {
    output.append(UInt8(ascii: "{"))
    var isFirst = true
    for (index, member) in members.enumerated() {
      if !isStripped, case .column(let type, nil) = member.kind {
        Self.write(member.start, to: &output, &isFirst)
        row.withValue(at: first + index) { type.write($0, to: &output) }
      } else {
        try write(member, .value(row[first + index]), to: &output, &isFirst)
      }
    }
    output.append(UInt8(ascii: "}"))
    guard output.count <= QueryBounds.answerBytesMax else { throw RestFailure.answerTooLarge }
  }

  /// Writes an embedded row.
  ///
  /// - Parameter cells: one for each member.
  private func write(_ cells: some Sequence<Cell>, to output: inout [UInt8]) throws {
    output.append(UInt8(ascii: "{"))
    var isFirst = true
    try writeMembers(cells, to: &output, &isFirst)
    output.append(UInt8(ascii: "}"))
    guard output.count <= QueryBounds.answerBytesMax else { throw RestFailure.answerTooLarge }
  }

  private func writeMembers(
    _ cells: some Sequence<Cell>, to output: inout [UInt8], _ isFirst: inout Bool
  ) throws {
    for (member, cell) in zip(members, cells) { try write(member, cell, to: &output, &isFirst) }
  }

  private func write(
    _ member: Member, _ cell: Cell, to output: inout [UInt8], _ isFirst: inout Bool
  ) throws {
    switch member.kind {
    case .column(let type, let cast):
      let value = cell.value
      guard !isStripped || value != .null else { return }
      Self.write(member.start, to: &output, &isFirst)
      if let cast { return try cast.write(value, of: type, to: &output) }
      type.write(isStripped && type == .json ? try Self.stripped(value) : value, to: &output)
    case .count(let cast):
      Self.write(member.start, to: &output, &isFirst)
      try cast.write(cell.value, of: .integer, to: &output)
    case .spread(let writer):
      try writer.writeMembers(try writer.spreadCells(cell), to: &output, &isFirst)
    case .one(let writer):
      let tree = try cell.tree()
      guard !isStripped || tree != .null else { return }
      Self.write(member.start, to: &output, &isFirst)
      try writer.writeRow(tree, to: &output)
    case .many(let writer):
      let tree = try cell.tree()
      guard !isStripped || tree != .null else { return }
      Self.write(member.start, to: &output, &isFirst)
      try writer.writeRows(tree, to: &output)
    }
  }

  /// The beginning of a member, without its comma where it is the first.
  private static func write(_ start: [UInt8], to output: inout [UInt8], _ isFirst: inout Bool) {
    output += isFirst ? start.dropFirst() : start[...]
    isFirst = false
  }

  /// Stored JSON without its members that are null.
  private static func stripped(_ value: Value) throws -> Value {
    .text(try JSONReader.tree(of: value.text ?? "null").withoutNulls.text)
  }

  /// Those of the one row. Without a row all members are null.
  private func spreadCells(_ cell: Cell) throws -> [Cell] {
    guard case .array(let elements) = try cell.tree() else { return members.map { _ in .tree(.null) } }
    return elements.map(Cell.tree)
  }

  private func writeRow(_ tree: JSONTree, to output: inout [UInt8]) throws {
    guard case .array(let elements) = tree else { return output += "null".utf8 }
    try write(elements.lazy.map(Cell.tree), to: &output)
  }

  private func writeRows(_ tree: JSONTree, to output: inout [UInt8]) throws {
    guard case .array(let elements) = tree else { return output += "null".utf8 }
    output.append(UInt8(ascii: "["))
    for (index, element) in elements.enumerated() {
      if index > 0 { output.append(UInt8(ascii: ",")) }
      guard case .array(let cells) = element else { continue }
      try write(cells.lazy.map(Cell.tree), to: &output)
    }
    output.append(UInt8(ascii: "]"))
  }
}

/// For CSV.
extension RowWriter {
  var names: [String] {
    members.flatMap { member -> [String] in
      if case .spread(let writer) = member.kind { writer.names } else { [member.name] }
    }
  }

  /// The text of each member, nil for null.
  func texts(of cells: some Sequence<Cell>) throws -> [String?] {
    try zip(members, cells).flatMap { member, cell -> [String?] in
      switch member.kind {
      case .column(let type, nil): return [type.plainText(cell.value)]
      case .spread(let writer): return try writer.texts(of: try writer.spreadCells(cell))
      default: return [try text(of: member, cell)]
      }
    }
  }

  /// The JSON of a member, without the quotes of a text.
  private func text(of member: Member, _ cell: Cell) throws -> String? {
    var output: [UInt8] = Array("{".utf8)
    var isFirst = true
    try write(member, cell, to: &output, &isFirst)
    guard case .object(let members) = try JSONReader.tree(of: output + "}".utf8) else { return nil }
    return members.first?.value.plainText
  }
}
