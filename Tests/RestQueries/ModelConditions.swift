import Foundation
import RestQueries
import Support

/// A value of the random data, as the plain model in Swift has it.
enum ModelValue: Hashable, Sendable {
  case null, bool(Bool), integer(Int), number(Double), text(String), list([String]), json(ModelJSON)
  /// In seconds since 2024-01-15, and in days since then.
  case time(Int), day(Int)
}

/// A row of the model: a place with its notes, or a note with its place, as far as the caller sees them.
struct ModelRow: Sendable {
  let id: String
  var values: [String: ModelValue]
  /// In the order of their ids.
  var notes: [ModelRow] = []
  var places: [ModelRow] = []

  var place: ModelRow? { places.first }

  func at(_ place: ModelRow?) -> ModelRow {
    var note = self
    note.places = place.map { [$0] } ?? []
    return note
  }
}

/// A test of a column that is both a text for the query and a rule of the model. nil is SQL's unknown.
struct ModelTest {
  let column: String
  /// `not.eq.`
  let operation: String
  let value: String
  /// Whether the value may need quotes in a logic tree.
  var isText = false
  let holds: (ModelRow) -> Bool?

  var parameter: String { operation + value }

  /// Within a logic tree.
  var item: String {
    let quoted = "\"" + value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    return "\(column).\(operation)\(isText ? quoted : value)"
  }
}

/// Makes random conditions, with an evaluation that shares nothing with the statements.
struct ModelConditions {
  var random: SeededRandom

  static let words = ["", "a", "b", "ab", "ba", "Ab", "a,b", "(x)", "q\"q", "a%", "_", "a b", "é", "null", "\\"]

  mutating func pick<T>(_ values: [T]) -> T { values[Int.random(in: 0..<values.count, using: &random)] }

  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

  /// A test of a random column of a place.
  mutating func test() -> ModelTest {
    switch Int.random(in: 0..<13, using: &random) {
    case 0: integers(pick(["stars", "note_count"]))
    case 1: numbers()
    case 2: booleans()
    case 3: lists()
    case 4: isIn()
    case 5: patterns()
    case 6: times()
    case 7: ids()
    case 8: quantified()
    case 9: textIsIn()
    case 10, 11: json()
    default: texts("code")
    }
  }

  /// A test of a column of a note.
  mutating func noteTest() -> ModelTest { chance(60) ? integers("points") : texts("text") }

  mutating func integers(_ column: String) -> ModelTest {
    let wanted = Int.random(in: -2...6, using: &random)
    if chance(15) {
      return negated(column, "isdistinct.", String(wanted)) { $0.values[column] != .integer(wanted) }
    }
    let (word, isTrue) = comparison()
    return negated(column, "\(word).", String(wanted)) { row in
      guard case .integer(let value) = row.values[column] else { return nil }
      return isTrue(value < wanted ? -1 : value > wanted ? 1 : 0)
    }
  }

  private mutating func numbers() -> ModelTest {
    let wanted = pick([-1.5, 0, 0.1, 2, 3.25])
    let (word, isTrue) = comparison()
    return negated("latitude", "\(word).", "\(wanted)") { row in
      guard case .number(let value) = row.values["latitude"] else { return nil }
      return isTrue(value < wanted ? -1 : value > wanted ? 1 : 0)
    }
  }

  private mutating func texts(_ column: String) -> ModelTest {
    let wanted = pick(Self.words)
    if chance(15) {
      return negated(column, "isdistinct.", wanted, isText: true) { $0.values[column] != .text(wanted) }
    }
    let (word, isTrue) = comparison()
    return negated(column, "\(word).", wanted, isText: true) { row in
      guard case .text(let value) = row.values[column] else { return nil }
      return isTrue(Self.order(value, wanted))
    }
  }

  static func order(_ one: String, _ two: String) -> Int {
    if one.utf8.elementsEqual(two.utf8) { return 0 }
    return one.utf8.lexicographicallyPrecedes(two.utf8) ? -1 : 1
  }

  /// An operator, and what it says of an order of -1, 0 or 1.
  mutating func comparison() -> (String, (Int) -> Bool) {
    pick(orders + [("eq", { $0 == 0 }), ("neq", { $0 != 0 })])
  }

  var orders: [(String, (Int) -> Bool)] {
    [("gt", { $0 > 0 }), ("gte", { $0 >= 0 }), ("lt", { $0 < 0 }), ("lte", { $0 <= 0 })]
  }

  mutating func negated(
    _ column: String, _ operation: String, _ value: String, isText: Bool = false,
    _ holds: @escaping (ModelRow) -> Bool?
  ) -> ModelTest {
    let isNegated = chance(25)
    return ModelTest(
      column: column, operation: isNegated ? "not.\(operation)" : operation, value: value, isText: isText
    ) { row in
      holds(row).map { $0 != isNegated }
    }
  }

  private mutating func booleans() -> ModelTest {
    let wanted = chance(50)
    switch Int.random(in: 0..<4, using: &random) {
    case 0: return negated("is_open", "is.", pick(["unknown", "null", "NULL"])) { _ in false }
    case 1: return negated("is_open", "is.", "not_null") { _ in true }
    case 2: return negated("is_open", "is.", "\(wanted)") { $0.values["is_open"] == .bool(wanted) }
    default: return negated("is_open", "eq.", "\(wanted)") { $0.values["is_open"] == .bool(wanted) }
    }
  }

  private mutating func isIn() -> ModelTest {
    let wanted = (0..<Int.random(in: 1...4, using: &random)).map { _ in Int.random(in: -2...6, using: &random) }
    return negated("stars", "in.", "(\(wanted.map(String.init).joined(separator: ",")))") { row in
      guard case .integer(let value) = row.values["stars"] else { return nil }
      return wanted.contains(value)
    }
  }

  private mutating func lists() -> ModelTest {
    let wanted = (0..<Int.random(in: 0...2, using: &random)).map { _ in pick(["a", "b", "c"]) }
    let text = "{\(wanted.joined(separator: ","))}"
    func list(_ row: ModelRow) -> Set<String> {
      if case .list(let list) = row.values["tags"] { Set(list) } else { [] }
    }
    switch Int.random(in: 0..<3, using: &random) {
    case 0: return negated("tags", "cs.", text) { list($0).isSuperset(of: wanted) }
    case 1: return negated("tags", "cd.", text) { list($0).isSubset(of: wanted) }
    default: return negated("tags", "ov.", text) { !list($0).isDisjoint(with: wanted) }
    }
  }

  private mutating func patterns() -> ModelTest {
    if chance(30) { return negated("code", "is.", "null") { $0.values["code"] == .null } }
    let part = pick(["a", "b", "A", "é"])
    func has(_ row: ModelRow, _ isTrue: (String) -> Bool) -> Bool? {
      if case .text(let value) = row.values["code"] { isTrue(value) } else { nil }
    }
    switch Int.random(in: 0..<5, using: &random) {
    case 0: return negated("code", "like.", "\(part)*", isText: true) { has($0) { $0.hasPrefix(part) } }
    case 1: return negated("code", "like.", "*\(part)*", isText: true) { has($0) { $0.contains(part) } }
    case 2:
      return negated("code", "ilike.", "*\(part)", isText: true) {
        has($0) { $0.lowercased().hasSuffix(part.lowercased()) }
      }
    case 3: return negated("code", "match.", "\(part)$", isText: true) { has($0) { $0.hasSuffix(part) } }
    default:
      return negated("code", "imatch.", "^\(part)+", isText: true) {
        has($0) { $0.lowercased().hasPrefix(part.lowercased()) }
      }
    }
  }
}
