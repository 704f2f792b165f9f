/// A parsed regular expression.
indirect enum ExpressionNode {
  case set(ScalarSet)
  case start, end
  case sequence([ExpressionNode])
  case alternatives([ExpressionNode])
  /// Without `max` any number of times.
  case repetition(ExpressionNode, min: Int, max: Int?)

  /// The size of its program, which grows with repetitions.
  var stepCount: Int {
    switch self {
    case .set, .start, .end: return 1
    case .sequence(let nodes): return nodes.reduce(0) { Self.bounded($0 + $1.stepCount) }
    case .alternatives(let nodes): return nodes.reduce(0) { Self.bounded($0 + $1.stepCount + 2) }
    case .repetition(let node, let min, let max):
      let count = node.stepCount
      return Self.bounded(min * count + (max.map { ($0 - min) * (count + 1) } ?? count + 2))
    }
  }

  private static func bounded(_ count: Int) -> Int { min(count, 1_000_000) }

  /// The expression for PostgreSQL, in which only the characters of the syntax stand for themselves.
  var postgresText: String {
    switch self {
    case .set(let set): set.postgresText
    case .start: "^"
    case .end: "$"
    case .sequence(let nodes): nodes.map(\.postgresText).joined()
    case .alternatives(let nodes): "(?:\(nodes.map(\.postgresText).joined(separator: "|")))"
    case .repetition(let node, let min, let max):
      "(?:\(node.postgresText)){\(min),\(max.map(String.init) ?? "")}"
    }
  }
}

/// A set of characters, as ranges.
struct ScalarSet {
  var ranges: [ClosedRange<Unicode.Scalar>]
  var isNegated = false

  func contains(_ scalar: Unicode.Scalar, isCaseSensitive: Bool) -> Bool {
    let isIn = has(scalar) || (!isCaseSensitive && Self.otherCase(scalar).map(has) ?? false)
    return isIn != isNegated
  }

  private func has(_ scalar: Unicode.Scalar) -> Bool { ranges.contains { $0.contains(scalar) } }

  private static func otherCase(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
    switch scalar {
    case "a"..."z": Unicode.Scalar(scalar.value - 32)
    case "A"..."Z": Unicode.Scalar(scalar.value + 32)
    default: nil
    }
  }

  var postgresText: String {
    if ranges.isEmpty { return isNegated ? "." : "[^\\u0001-\\U0010FFFF]" }
    let list = ranges.map { range in
      range.lowerBound == range.upperBound
        ? Self.escaped(range.lowerBound) : "\(Self.escaped(range.lowerBound))-\(Self.escaped(range.upperBound))"
    }
    return "[\(isNegated ? "^" : "")\(list.joined())]"
  }

  private static func escaped(_ scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16)
    let width = scalar.value > 0xFFFF ? 8 : 4
    return (width == 8 ? "\\U" : "\\u") + String(repeating: "0", count: width - digits.count) + digits
  }
}

/// A step of the program that matches an expression.
enum ExpressionStep {
  case set(ScalarSet)
  case start, end
  case split(Int, Int)
  case jump(Int)
  case match

  static func program(for root: ExpressionNode) -> [ExpressionStep] {
    var steps: [ExpressionStep] = []
    append(root, to: &steps)
    return steps + [.match]
  }

  private static func append(_ node: ExpressionNode, to steps: inout [ExpressionStep]) {
    switch node {
    case .set(let set): steps.append(.set(set))
    case .start: steps.append(.start)
    case .end: steps.append(.end)
    case .sequence(let nodes): for node in nodes { append(node, to: &steps) }
    case .alternatives(let nodes): appendAlternatives(nodes, to: &steps)
    case .repetition(let node, let min, let max):
      for _ in 0..<min { append(node, to: &steps) }
      guard let max else { return appendLoop(node, to: &steps) }
      appendOptional(node, count: max - min, to: &steps)
    }
  }

  private static func appendAlternatives(_ nodes: [ExpressionNode], to steps: inout [ExpressionStep]) {
    var ends: [Int] = []
    for (index, node) in nodes.enumerated() {
      guard index < nodes.count - 1 else {
        append(node, to: &steps)
        break
      }
      let split = steps.count
      steps.append(.match)
      append(node, to: &steps)
      ends.append(steps.count)
      steps.append(.match)
      steps[split] = .split(split + 1, steps.count)
    }
    for end in ends { steps[end] = .jump(steps.count) }
  }

  private static func appendLoop(_ node: ExpressionNode, to steps: inout [ExpressionStep]) {
    let split = steps.count
    steps.append(.match)
    append(node, to: &steps)
    steps.append(.jump(split))
    steps[split] = .split(split + 1, steps.count)
  }

  private static func appendOptional(_ node: ExpressionNode, count: Int, to steps: inout [ExpressionStep]) {
    var splits: [Int] = []
    for _ in 0..<count {
      splits.append(steps.count)
      steps.append(.match)
      append(node, to: &steps)
    }
    for split in splits { steps[split] = .split(split + 1, steps.count) }
  }
}
