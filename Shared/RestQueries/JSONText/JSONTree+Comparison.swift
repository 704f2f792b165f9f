import Database
import Wire

/// The operators of PostgreSQL's `jsonb`, for SQLite. They throw when their statement has taken too long.
extension JSONTree {
  /// Whether two values are equal: members in any order, numbers by their value.
  func equals(_ other: JSONTree) throws -> Bool {
    var steps = FunctionSteps()
    return try isEqual(to: other, &steps)
  }

  /// `@>`: every element and every member of `other` is in this value. An array contains a value that it has as an
  /// element, at the top only.
  func contains(_ other: JSONTree) throws -> Bool {
    var steps = FunctionSteps()
    guard case .array(let elements) = self, other.isScalar else { return try containsNested(other, &steps) }
    for element in elements where try element.isEqual(to: other, &steps) { return true }
    return false
  }

  private func containsNested(_ other: JSONTree, _ steps: inout FunctionSteps) throws -> Bool {
    try steps.next()
    switch (self, other) {
    case (.object(let members), .object(let wanted)):
      for member in wanted {
        guard let value = try Self.value(of: member.name, in: members, &steps),
          try value.containsNested(member.value, &steps)
        else { return false }
      }
      return true
    case (.array(let elements), .array(let wanted)):
      for value in wanted where try !Self.has(value, elements, &steps) { return false }
      return true
    default: return try isEqual(to: other, &steps)
    }
  }

  private static func has(
    _ value: JSONTree, _ elements: [JSONTree], _ steps: inout FunctionSteps
  ) throws -> Bool {
    for element in elements where try element.containsNested(value, &steps) { return true }
    return false
  }

  private func isEqual(to other: JSONTree, _ steps: inout FunctionSteps) throws -> Bool {
    try steps.next()
    switch (self, other) {
    case (.number(let one), .number(let two)): return DecimalText.areEqual(one, two)
    case (.array(let one), .array(let two)):
      guard one.count == two.count else { return false }
      for (value, other) in zip(one, two) where try !value.isEqual(to: other, &steps) { return false }
      return true
    case (.object(let one), .object(let two)):
      guard one.count == two.count else { return false }
      for member in one {
        guard let value = try Self.value(of: member.name, in: two, &steps),
          try value.isEqual(to: member.value, &steps)
        else { return false }
      }
      return true
    default: return self == other
    }
  }

  private static func value(
    of name: String, in members: [Member], _ steps: inout FunctionSteps
  ) throws -> JSONTree? {
    for member in members {
      try steps.next()
      if member.name == name { return member.value }
    }
    return nil
  }

  private var isScalar: Bool {
    switch self {
    case .array, .object: false
    default: true
    }
  }

  /// How many values it consists of, with itself.
  var valueCount: Int {
    switch self {
    case .array(let elements): elements.reduce(1) { $0 + $1.valueCount }
    case .object(let members): members.reduce(1) { $0 + $1.value.valueCount }
    default: 1
    }
  }
}

/// The exact value of a decimal number, comparable whatever its notation: `1.50` and `15e-1` are equal.
private struct DecimalText: Hashable {
  private let isNegative: Bool
  private let digits: String
  private let exponent: Int
  /// Numbers whose exponents are beyond are as good as zero, and need not be told apart.
  private static let exponentMax = 1_000_000

  /// Most numbers are whole, and their texts decide.
  static func areEqual(_ one: String, _ two: String) -> Bool {
    if one == two { return true }
    return isWhole(one) && isWhole(two) ? false : DecimalText(one) == DecimalText(two)
  }

  /// Whether no other text of digits has the same value.
  private static func isWhole(_ text: String) -> Bool {
    text != "-0" && text.utf8.allSatisfy { (48...57).contains($0) || $0 == UInt8(ascii: "-") }
  }

  private init(_ text: String) {
    var mantissa = Substring(text.lowercased())
    var exponent = 0
    if let mark = mantissa.firstIndex(of: "e") {
      // One of more digits than an integer has is negative: others are only of zero.
      exponent = Int(mantissa[mark...].dropFirst()) ?? -Self.exponentMax
      exponent = min(max(exponent, -Self.exponentMax), Self.exponentMax)
      mantissa = mantissa[..<mark]
    }
    let isNegative = mantissa.hasPrefix("-")
    let parts = mantissa.drop { $0 == "-" }.split(separator: ".", omittingEmptySubsequences: false)
    exponent -= parts.count > 1 ? parts[1].count : 0
    var digits = parts.joined().drop { $0 == "0" }
    while digits.last == "0" {
      digits.removeLast()
      exponent += 1
    }
    self.digits = String(digits)
    self.exponent = digits.isEmpty ? 0 : exponent
    self.isNegative = !digits.isEmpty && isNegative
  }
}
