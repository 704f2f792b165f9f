/// Parses a regular expression: alternatives, groups, sets, anchors, `\d \w \s` and their opposites, `* + ? {m,n}`.
struct ExpressionParser {
  private let scalars: [Unicode.Scalar]
  private var position = 0
  private var depth = 0
  private static let repetitionsMax = 100
  private static let depthMax = 20

  init(_ text: String) { scalars = Array(text.unicodeScalars) }

  mutating func parse() throws -> ExpressionNode {
    let node = try alternatives()
    guard position == scalars.count else { throw RestFailure.invalidExpression("parentheses () not balanced") }
    return node
  }

  private var next: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

  private mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
    guard next == scalar else { return false }
    position += 1
    return true
  }

  private mutating func alternatives() throws -> ExpressionNode {
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.depthMax else { throw RestFailure.invalidExpression("it is nested too deeply") }
    var nodes = [try sequence()]
    while skip("|") { nodes.append(try sequence()) }
    return nodes.count == 1 ? nodes[0] : .alternatives(nodes)
  }

  private mutating func sequence() throws -> ExpressionNode {
    var nodes: [ExpressionNode] = []
    while let scalar = next, scalar != "|", scalar != ")" {
      position += 1
      let atom = try atom(scalar)
      nodes.append(try repeated(atom))
    }
    return .sequence(nodes)
  }

  private mutating func atom(_ scalar: Unicode.Scalar) throws -> ExpressionNode {
    switch scalar {
    case "(":
      if skip("?") {
        guard skip(":") else { throw RestFailure.invalidExpression("(? is not supported") }
      }
      let node = try alternatives()
      guard skip(")") else { throw RestFailure.invalidExpression("parentheses () not balanced") }
      return .sequence([node])
    case "[": return .set(try bracket())
    case ".": return .set(ScalarSet(ranges: [], isNegated: true))
    case "^": return .start
    case "$": return .end
    case "*", "+", "?", "{": throw RestFailure.invalidExpression("quantifier operand invalid")
    case "\\": return .set(try escaped())
    default: return .set(ScalarSet(ranges: [scalar...scalar]))
    }
  }

  private mutating func repeated(_ node: ExpressionNode) throws -> ExpressionNode {
    guard let (min, max) = try bounds() else { return node }
    switch node {
    case .start, .end: throw RestFailure.invalidExpression("quantifier operand invalid")
    default: break
    }
    if let scalar = next, "*+?{".unicodeScalars.contains(scalar) {
      throw RestFailure.invalidExpression("quantifier operand invalid")
    }
    return .repetition(node, min: min, max: max)
  }

  private mutating func bounds() throws -> (min: Int, max: Int?)? {
    if skip("*") { return (0, nil) }
    if skip("+") { return (1, nil) }
    if skip("?") { return (0, 1) }
    guard skip("{") else { return nil }
    let min = try count()
    var max: Int? = min
    if skip(",") { max = next == "}" ? nil : try count() }
    guard skip("}"), max.map({ $0 >= min }) ?? true else {
      throw RestFailure.invalidExpression("invalid repetition count(s)")
    }
    return (min, max)
  }

  private mutating func count() throws -> Int {
    var digits = ""
    while let scalar = next, ("0"..."9").contains(scalar), digits.count < 4 {
      digits.unicodeScalars.append(scalar)
      position += 1
    }
    guard let count = Int(digits), count <= Self.repetitionsMax else {
      throw RestFailure.invalidExpression("invalid repetition count(s)")
    }
    return count
  }

  private mutating func bracket() throws -> ScalarSet {
    var set = ScalarSet(ranges: [], isNegated: skip("^"))
    var isFirst = true
    while let scalar = next, scalar != "]" || isFirst {
      isFirst = false
      position += 1
      if scalar == "[", next == ":" || next == "." || next == "=" {
        throw RestFailure.invalidExpression("character classes in brackets are not supported")
      }
      let low = scalar == "\\" ? try escaped() : ScalarSet(ranges: [scalar...scalar])
      guard next == "-", position + 1 < scalars.count, scalars[position + 1] != "]" else {
        guard !low.isNegated else { throw RestFailure.invalidExpression("invalid escape \\ sequence") }
        set.ranges += low.ranges
        continue
      }
      position += 1
      set.ranges.append(try range(from: low))
    }
    guard skip("]") else { throw RestFailure.invalidExpression("brackets [] not balanced") }
    return set
  }

  private mutating func range(from low: ScalarSet) throws -> ClosedRange<Unicode.Scalar> {
    guard let scalar = next else { throw RestFailure.invalidExpression("brackets [] not balanced") }
    position += 1
    let high = scalar == "\\" ? try escaped() : ScalarSet(ranges: [scalar...scalar])
    guard let from = low.single, let to = high.single, from <= to, to.value - from.value < 100_000 else {
      throw RestFailure.invalidExpression("invalid character range")
    }
    return from...to
  }

  private mutating func escaped() throws -> ScalarSet {
    guard let scalar = next else { throw RestFailure.invalidExpression("invalid escape \\ sequence") }
    position += 1
    switch scalar {
    case "d": return ScalarSet(ranges: ["0"..."9"])
    case "D": return ScalarSet(ranges: ["0"..."9"], isNegated: true)
    case "w": return ScalarSet(ranges: Self.wordRanges)
    case "W": return ScalarSet(ranges: Self.wordRanges, isNegated: true)
    case "s": return ScalarSet(ranges: Self.blankRanges)
    case "S": return ScalarSet(ranges: Self.blankRanges, isNegated: true)
    case "n": return ScalarSet(ranges: ["\n"..."\n"])
    case "r": return ScalarSet(ranges: ["\r"..."\r"])
    case "t": return ScalarSet(ranges: ["\t"..."\t"])
    default:
      guard !scalar.properties.isAlphabetic, scalar.properties.numericType == nil else {
        throw RestFailure.invalidExpression("\\\(scalar) is not supported")
      }
      return ScalarSet(ranges: [scalar...scalar])
    }
  }

  private static let wordRanges: [ClosedRange<Unicode.Scalar>] = ["0"..."9", "A"..."Z", "_"..."_", "a"..."z"]
  private static let blankRanges: [ClosedRange<Unicode.Scalar>] = ["\t"..."\r", " "..." "]
}

extension ScalarSet {
  /// The only character of the set.
  fileprivate var single: Unicode.Scalar? {
    guard !isNegated, ranges.count == 1, let range = ranges.first, range.lowerBound == range.upperBound else {
      return nil
    }
    return range.lowerBound
  }
}
