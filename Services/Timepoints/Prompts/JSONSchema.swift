import Wire

/// The part of JSON Schema (draft 2020-12) that the schemas of answers use. A keyword beyond it is an error, as it would
/// not be checked.
struct JSONSchema: Sendable {
  struct Mistake: Error, CustomStringConvertible {
    let description: String
  }

  /// The schema as a provider gets it: without the bounds of texts, lists and numbers, which not all providers take.
  let structure: JSONValue
  private let root: Node

  /// - Throws: ``Mistake`` that names the place in the schema.
  init(_ schema: JSONValue) throws {
    root = try Node(schema, at: "$")
    structure = Self.withoutBounds(schema)
  }

  private static let bounds: Set<String> = [
    "minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum",
  ]

  private static func withoutBounds(_ schema: JSONValue) -> JSONValue {
    guard case .object(var members) = schema else { return schema }
    members = members.filter { !bounds.contains($0.key) }
    members["items"] = members["items"].map(withoutBounds)
    if case .object(let properties) = members["properties"] {
      members["properties"] = .object(properties.mapValues(withoutBounds))
    }
    return .object(members)
  }

  /// What is wrong with an answer, each with its place; at most five. Empty for an answer that fits.
  func errors(in value: JSONValue) -> [String] {
    var errors: [String] = []
    root.check(value, at: "", &errors)
    return errors
  }
}

private enum ValueType: String {
  case object, array, string, integer, number, boolean, null

  func fits(_ value: JSONValue) -> Bool {
    switch (self, value) {
    case (.object, .object), (.array, .array), (.string, .string), (.boolean, .bool), (.null, .null): true
    case (.integer, .integer), (.number, .integer), (.number, .number): true
    default: false
    }
  }
}

/// A schema of one place.
private final class Node: Sendable {
  let types: [ValueType]
  let properties: [String: Node]
  let required: [String]
  let items: Node?
  let allowed: [JSONValue]?
  let length: ClosedRange<Int>
  let count: ClosedRange<Int>
  let range: ClosedRange<Double>

  static let errorsMax = 5
  private static let known: Set<String> = [
    "type", "properties", "required", "additionalProperties", "items", "enum", "minLength", "maxLength", "minItems",
    "maxItems", "minimum", "maximum", "description",
  ]

  init(_ schema: JSONValue, at path: String) throws {
    guard case .object(let members) = schema else { throw JSONSchema.Mistake(description: "\(path) is no object") }
    if let unknown = members.keys.sorted().first(where: { !Self.known.contains($0) }) {
      throw JSONSchema.Mistake(description: "\(path) has the keyword \(unknown), which is not checked")
    }
    types = try Self.types(members["type"], at: path)
    properties = try Self.properties(members["properties"], at: path)
    required = try Self.texts(members["required"], at: "\(path).required")
    if let missing = required.first(where: { [properties] in properties[$0] == nil }) {
      throw JSONSchema.Mistake(description: "\(path).required names \(missing), which is no property")
    }
    if types.contains(.object), members["additionalProperties"] != .bool(false) {
      throw JSONSchema.Mistake(description: "\(path) needs additionalProperties: false")
    }
    items = try members["items"].map { try Node($0, at: "\(path).items") }
    if types.contains(.array), items == nil { throw JSONSchema.Mistake(description: "\(path) needs items") }
    if case .array(let values) = members["enum"] { allowed = values } else { allowed = nil }
    length = try Self.integers(members["minLength"], members["maxLength"], at: path)
    count = try Self.integers(members["minItems"], members["maxItems"], at: path)
    let (least, most) = (members["minimum"]?.double ?? -.infinity, members["maximum"]?.double ?? .infinity)
    guard least <= most else { throw JSONSchema.Mistake(description: "\(path) has a minimum over its maximum") }
    range = least...most
  }

  private static func types(_ value: JSONValue?, at path: String) throws -> [ValueType] {
    let names: [JSONValue]
    switch value {
    case .string: names = [value].compactMap { $0 }
    case .array(let values): names = values
    default: throw JSONSchema.Mistake(description: "\(path) has no type")
    }
    return try names.map {
      guard case .string(let name) = $0, let type = ValueType(rawValue: name) else {
        throw JSONSchema.Mistake(description: "\(path) has an unknown type")
      }
      return type
    }
  }

  private static func properties(_ value: JSONValue?, at path: String) throws -> [String: Node] {
    guard let value else { return [:] }
    guard case .object(let members) = value else {
      throw JSONSchema.Mistake(description: "\(path).properties is no object")
    }
    var nodes: [String: Node] = [:]
    for (name, schema) in members { nodes[name] = try Node(schema, at: "\(path).\(name)") }
    return nodes
  }

  private static func texts(_ value: JSONValue?, at path: String) throws -> [String] {
    guard let value else { return [] }
    guard case .array(let values) = value else { throw JSONSchema.Mistake(description: "\(path) is no list") }
    return try values.map {
      guard case .string(let text) = $0 else { throw JSONSchema.Mistake(description: "\(path) is no list of texts") }
      return text
    }
  }

  private static func integers(
    _ least: JSONValue?, _ most: JSONValue?, at path: String
  ) throws -> ClosedRange<Int> {
    let (low, high) = (least?.double ?? 0, most?.double ?? 1_000_000)
    guard let low = Int(exactly: low), let high = Int(exactly: high), low >= 0, low <= high else {
      throw JSONSchema.Mistake(description: "\(path) has bounds that nothing fits")
    }
    return low...high
  }

  func check(_ value: JSONValue, at path: String, _ errors: inout [String]) {
    guard errors.count < Self.errorsMax else { return }
    func add(_ message: String) { errors.append("\(path.isEmpty ? "the answer" : path) \(message)") }
    guard types.contains(where: { $0.fits(value) }) else {
      return add("must be \(types.map(\.rawValue).joined(separator: " or "))")
    }
    if let allowed, !allowed.contains(value) { return add("has a value that is not in the list") }
    switch value {
    case .string(let text):
      if text.count < length.lowerBound { add("is empty or too short") }
      if text.count > length.upperBound { add("is longer than \(length.upperBound) characters") }
    case .integer, .number:
      if let number = value.double, !range.contains(number) { add("is out of range") }
    case .array(let values):
      if values.count < count.lowerBound { add("needs \(count.lowerBound) or more entries") }
      if values.count > count.upperBound { return add("has more than \(count.upperBound) entries") }
      for (index, element) in values.enumerated() { items?.check(element, at: Self.join(path, "\(index)"), &errors) }
    case .object(let members): check(members, at: path, &errors)
    case .null, .bool: break
    }
  }

  private func check(_ members: [String: JSONValue], at path: String, _ errors: inout [String]) {
    for name in required where members[name] == nil { errors.append("\(Self.join(path, name)) is missing") }
    // The names are not repeated: they may be anything.
    if members.keys.contains(where: { properties[$0] == nil }) {
      errors.append("\(path.isEmpty ? "the answer" : path) has members that it should not have")
    }
    for (name, node) in properties.sorted(by: { $0.key < $1.key }) {
      if let member = members[name] { node.check(member, at: Self.join(path, name), &errors) }
    }
  }

  private static func join(_ path: String, _ part: String) -> String { path.isEmpty ? part : "\(path).\(part)" }
}

extension JSONValue {
  /// The number of an integer or a decimal.
  var double: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .number(let number): number
    default: nil
    }
  }
}
