import Wire

/// The operators of PostgreSQL's `jsonb`, for SQLite.
extension JSONTree {
  /// Whether two values are equal: members in any order, numbers by their value.
  func equals(_ other: JSONTree) -> Bool {
    switch (self, other) {
    case (.number(let one), .number(let two)): DecimalText(one) == DecimalText(two)
    case (.array(let one), .array(let two)):
      one.count == two.count && zip(one, two).allSatisfy { $0.equals($1) }
    case (.object(let one), .object):
      one.count == other.memberCount && one.allSatisfy { member in other[member.name]?.equals(member.value) ?? false }
    default: self == other
    }
  }

  private var memberCount: Int {
    guard case .object(let members) = self else { return 0 }
    return members.count
  }

  /// `@>`: every element and every member of `other` is in this value. An array contains a value that it has as an
  /// element, at the top only.
  func contains(_ other: JSONTree) -> Bool {
    if case .array(let elements) = self, other.isScalar { return elements.contains { $0.equals(other) } }
    return containsNested(other)
  }

  private func containsNested(_ other: JSONTree) -> Bool {
    switch (self, other) {
    case (.object, .object(let wanted)):
      wanted.allSatisfy { member in self[member.name]?.containsNested(member.value) ?? false }
    case (.array(let elements), .array(let wanted)):
      wanted.allSatisfy { value in elements.contains { $0.containsNested(value) } }
    default: equals(other)
    }
  }

  private var isScalar: Bool {
    switch self {
    case .array, .object: false
    default: true
    }
  }
}

/// The exact value of a decimal number, comparable whatever its notation: `1.50` and `15e-1` are equal.
private struct DecimalText: Hashable {
  private let isNegative: Bool
  private let digits: String
  private let exponent: Int

  init(_ text: String) {
    var mantissa = Substring(text.lowercased())
    var exponent = 0
    if let mark = mantissa.firstIndex(of: "e") {
      exponent = Int(mantissa[mark...].dropFirst()) ?? 0
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
