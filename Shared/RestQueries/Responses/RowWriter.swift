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

/// Writes rows as JSON objects. Both engines return the same values, and only this code knows how they look.
struct RowWriter {
  let isStripped: Bool

  func write(_ cells: [Cell], of resource: Resource, to output: inout [UInt8]) throws {
    output.append(UInt8(ascii: "{"))
    var isFirst = true
    try writeMembers(cells, of: resource, to: &output, &isFirst)
    output.append(UInt8(ascii: "}"))
  }

  private func writeMembers(
    _ cells: [Cell], of resource: Resource, to output: inout [UInt8], _ isFirst: inout Bool
  ) throws {
    var remaining = cells[...]
    for member in resource.outputs {
      if case .embed(let index) = member, resource.embeds[index].resource.outputs.isEmpty { continue }
      guard let cell = remaining.popFirst() else { return }
      try writeMember(member, cell, of: resource, to: &output, &isFirst)
    }
  }

  private func writeMember(
    _ member: Output, _ cell: Cell, of resource: Resource, to output: inout [UInt8], _ isFirst: inout Bool
  ) throws {
    switch member {
    case .column(let name, _, let type, let cast):
      guard !isStripped || cell.value != .null else { return }
      writeName(name, to: &output, &isFirst)
      if let cast { return try cast.write(cell.value, of: type, to: &output) }
      type.write(isStripped && type == .json ? try Self.stripped(cell.value) : cell.value, to: &output)
    case .count(let name, let cast):
      writeName(name, to: &output, &isFirst)
      try (cast ?? .integer).write(cell.value, of: .integer, to: &output)
    case .embed(let index):
      let embed = resource.embeds[index]
      let tree = try cell.tree()
      if embed.isSpread { return try writeSpread(tree, embed, to: &output, &isFirst) }
      guard !isStripped || tree != .null else { return }
      writeName(embed.name, to: &output, &isFirst)
      try write(tree, embed, to: &output)
    }
  }

  /// Stored JSON without its members that are null.
  private static func stripped(_ value: Value) throws -> Value {
    .text(try JSONReader.tree(of: value.text ?? "null").withoutNulls.text)
  }

  private func writeName(_ name: String, to output: inout [UInt8], _ isFirst: inout Bool) {
    if !isFirst { output.append(UInt8(ascii: ",")) }
    isFirst = false
    JSONTree.write(name, to: &output)
    output.append(UInt8(ascii: ":"))
  }

  /// Without a row all members are null.
  private func writeSpread(
    _ tree: JSONTree, _ embed: Embed, to output: inout [UInt8], _ isFirst: inout Bool
  ) throws {
    let cells: [Cell] =
      if case .array(let elements) = tree { elements.map(Cell.tree) } else {
        embed.resource.outputs.map { _ in .tree(.null) }
      }
    try writeMembers(cells, of: embed.resource, to: &output, &isFirst)
  }

  private func write(_ tree: JSONTree, _ embed: Embed, to output: inout [UInt8]) throws {
    guard case .array(let elements) = tree else { return output += "null".utf8 }
    if embed.relation.cardinality == .one {
      return try write(elements.map(Cell.tree), of: embed.resource, to: &output)
    }
    output.append(UInt8(ascii: "["))
    for (index, element) in elements.enumerated() {
      if index > 0 { output.append(UInt8(ascii: ",")) }
      guard case .array(let cells) = element else { continue }
      try write(cells.map(Cell.tree), of: embed.resource, to: &output)
    }
    output.append(UInt8(ascii: "]"))
  }
}

/// For CSV.
extension RowWriter {
  func names(of resource: Resource) -> [String] {
    visible(resource).flatMap { output -> [String] in
      switch output {
      case .column(let name, _, _, _), .count(let name, _): return [name]
      case .embed(let index):
        let embed = resource.embeds[index]
        return embed.isSpread ? names(of: embed.resource) : [embed.name]
      }
    }
  }

  /// The text of each member, nil for null.
  func texts(of cells: [Cell], _ resource: Resource) throws -> [String?] {
    try zip(visible(resource), cells).flatMap { output, cell -> [String?] in
      switch output {
      case .column(_, _, let type, nil): return [type.plainText(cell.value)]
      case .column, .count: return [try text(of: output, cell, resource)]
      case .embed(let index):
        let embed = resource.embeds[index]
        guard embed.isSpread else { return [try text(of: output, cell, resource)] }
        guard case .array(let elements) = try cell.tree() else { return names(of: embed.resource).map { _ in nil } }
        return try texts(of: elements.map(Cell.tree), embed.resource)
      }
    }
  }

  /// The JSON of a member, without the quotes of a text.
  private func text(of member: Output, _ cell: Cell, _ resource: Resource) throws -> String? {
    var output: [UInt8] = Array("{".utf8)
    var isFirst = true
    try writeMember(member, cell, of: resource, to: &output, &isFirst)
    guard case .object(let members) = try JSONReader.tree(of: output + "}".utf8) else { return nil }
    return members.first?.value.plainText
  }

  private func visible(_ resource: Resource) -> [Output] {
    resource.outputs.filter { output in
      if case .embed(let index) = output { !resource.embeds[index].resource.outputs.isEmpty } else { true }
    }
  }
}
