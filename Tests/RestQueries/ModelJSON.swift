/// JSON as the plain model in Swift has it. Its text is compact, with the members in order.
indirect enum ModelJSON: Hashable, Sendable {
  case null, bool(Bool), number(Int), text(String), array([ModelJSON]), object([String: ModelJSON])

  var text: String {
    switch self {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .number(let value): "\(value)"
    case .text(let value): "\"" + value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    case .array(let elements): "[" + elements.map(\.text).joined(separator: ",") + "]"
    case .object(let members):
      "{" + members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value.text)" }.joined(separator: ",") + "}"
    }
  }

  /// What `->>` gives; nil for null.
  var plainText: String? {
    switch self {
    case .null: nil
    case .text(let value): value
    default: text
    }
  }

  var number: Int? { if case .number(let value) = self { value } else { nil } }

  /// PostgreSQL's `@>`, for objects.
  func contains(_ other: ModelJSON) -> Bool {
    switch (self, other) {
    case (.object(let own), .object(let others)):
      others.allSatisfy { name, value in own[name].map { $0.contains(value) } ?? false }
    case (.array(let own), .array(let others)):
      others.allSatisfy { element in own.contains { $0.contains(element) } }
    default: self == other
    }
  }
}

/// A path into the JSON of a place.
struct ModelPath: Sendable {
  enum Step: Sendable {
    case key(String), index(Int)
  }

  let steps: [Step]
  let isText: Bool

  /// `details->b->>c`
  var field: String {
    steps.enumerated().reduce("details") { text, step in
      let arrow = isText && step.offset == steps.count - 1 ? "->>" : "->"
      return switch step.element {
      case .key(let key): "\(text)\(arrow)\(key)"
      case .index(let index): "\(text)\(arrow)\(index)"
      }
    }
  }

  /// nil where there is nothing.
  func value(in row: ModelRow) -> ModelJSON? {
    guard case .json(let root) = row.values["details"] else { return nil }
    return steps.reduce(root) { found, step in
      switch (found, step) {
      case (.object(let members), .key(let key)): members[key]
      case (.array(let elements), .index(let index)):
        elements.indices.contains(index < 0 ? elements.count + index : index)
          ? elements[index < 0 ? elements.count + index : index] : nil
      default: nil
      }
    }
  }
}

extension ModelConditions {
  mutating func details() -> ModelValue {
    guard chance(85) else { return .null }
    var members: [String: ModelJSON] = [:]
    if chance(80) {
      members["a"] = pick([
        .number(Int.random(in: -1...3, using: &random)), .text(pick(Self.words)), .null, .bool(true), .array([]),
      ])
    }
    if chance(60) { members["b"] = .object(["c": .number(Int.random(in: 0...3, using: &random))]) }
    if chance(60) {
      members["l"] = .array(
        (0..<Int.random(in: 0...3, using: &random)).map { _ in .number(Int.random(in: 0...3, using: &random)) })
    }
    return .json(.object(members))
  }

  mutating func path(isText: Bool) -> ModelPath {
    ModelPath(
      steps: pick([
        [.key("a")], [.key("b"), .key("c")], [.key("l"), .index(0)], [.key("l"), .index(-1)], [.key("b")],
      ]), isText: isText)
  }

  /// A test of something in the JSON.
  mutating func json() -> ModelTest {
    switch Int.random(in: 0..<5, using: &random) {
    case 0: pathText()
    case 1: pathNumber()
    case 2: pathEquality()
    case 3: containment()
    default: pathNull()
    }
  }

  private mutating func pathText() -> ModelTest {
    let path = path(isText: true)
    let wanted = chance(50) ? pick(Self.words) : "\(Int.random(in: -1...3, using: &random))"
    let (word, isTrue) = comparison()
    return negated(path.field, "\(word).", wanted, isText: true) { row in
      path.value(in: row)?.plainText.map { isTrue(Self.order($0, wanted)) }
    }
  }

  /// What is no number is neither greater nor less than one.
  private mutating func pathNumber() -> ModelTest {
    let path = path(isText: false)
    let wanted = Int.random(in: -1...3, using: &random)
    let (word, isTrue) = pick(orders)
    return negated(path.field, "\(word).", "\(wanted)") { row in
      path.value(in: row)?.number.map { isTrue($0 < wanted ? -1 : $0 > wanted ? 1 : 0) }
    }
  }

  private mutating func pathEquality() -> ModelTest {
    let path = path(isText: false)
    let wanted: ModelJSON = pick([
      .number(1), .number(2), .text("a"), .null, .bool(true), .array([]), .object(["c": .number(1)]),
    ])
    switch Int.random(in: 0..<3, using: &random) {
    case 0: return negated(path.field, "eq.", wanted.text, isText: true) { path.value(in: $0).map { $0 == wanted } }
    case 1: return negated(path.field, "neq.", wanted.text, isText: true) { path.value(in: $0).map { $0 != wanted } }
    default: return negated(path.field, "isdistinct.", wanted.text, isText: true) { path.value(in: $0) != wanted }
    }
  }

  private mutating func containment() -> ModelTest {
    let parts: [ModelJSON] = [
      .object(["a": .number(1)]), .object(["b": .object(["c": .number(2)])]), .object(["l": .array([.number(1)])]),
      .object([:]), .object(["a": .null]),
    ]
    let wholes: [ModelJSON] = [
      .object(["a": .number(1), "b": .object(["c": .number(2)]), "l": .array([.number(0), .number(1), .number(2)])]),
      .object(["l": .array([.number(1), .number(2), .number(3)])]),
    ]
    func root(_ row: ModelRow) -> ModelJSON? {
      if case .json(let value) = row.values["details"] { value } else { nil }
    }
    if chance(60) {
      let part = pick(parts)
      return negated("details", "cs.", part.text, isText: true) { root($0).map { $0.contains(part) } }
    }
    let whole = pick(wholes)
    return negated("details", "cd.", whole.text, isText: true) { root($0).map { whole.contains($0) } }
  }

  /// JSON's null is a value, and no text.
  private mutating func pathNull() -> ModelTest {
    let path = path(isText: chance(50))
    let (word, isNull) = chance(50) ? ("null", true) : ("not_null", false)
    return negated(path.field, "is.", word) { row in
      let found = path.value(in: row)
      return (path.isText ? found?.plainText == nil : found == nil) == isNull
    }
  }
}
