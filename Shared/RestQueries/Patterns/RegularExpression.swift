import Database

/// A regular expression without what makes matching expensive: no references to groups, no looking around.
///
/// SQLite matches it here, in a time that grows with the product of the lengths of the text and the pattern.
/// PostgreSQL is given the same expression in a form whose meaning depends on no locale (``postgresText``).
struct RegularExpression {
  let root: ExpressionNode
  private let program: [ExpressionStep]
  private let isCaseSensitive: Bool

  static let textMax = 300
  static let stepsMax = 300

  /// - Throws: ``RestFailure`` 2201B for what is not an expression, and for what is not supported.
  init(_ text: String, isCaseSensitive: Bool) throws {
    guard text.unicodeScalars.count <= Self.textMax else {
      throw RestFailure.invalidExpression("it is longer than \(Self.textMax) characters")
    }
    var parser = ExpressionParser(text)
    root = try parser.parse()
    guard root.stepCount < Self.stepsMax else { throw RestFailure.invalidExpression("it is too complex") }
    program = ExpressionStep.program(for: root)
    self.isCaseSensitive = isCaseSensitive
  }

  var postgresText: String { root.postgresText }

  /// Whether a part of `text` matches. All alternatives are followed at once, so none is tried twice.
  ///
  /// - Throws: when the statement that asks has taken too long.
  func matches(_ text: String) throws -> Bool {
    var steps = FunctionSteps()
    var current = StepSet(count: program.count)
    var following = StepSet(count: program.count)
    var position = 0
    let scalars = Array(text.unicodeScalars)
    while true {
      try steps.next()
      let isEnd = position == scalars.count
      if add(0, to: &current, isStart: position == 0, isEnd: isEnd) { return true }
      guard !isEnd else { return false }
      let isNextEnd = position + 1 == scalars.count
      following.removeAll()
      for step in current.members {
        guard case .set(let set) = program[step],
          set.contains(scalars[position], isCaseSensitive: isCaseSensitive)
        else { continue }
        if add(step + 1, to: &following, isStart: false, isEnd: isNextEnd) { return true }
      }
      swap(&current, &following)
      position += 1
    }
  }

  /// Adds a step and those that follow without reading a character.
  ///
  /// - Returns: whether the end of the program is among them.
  private func add(_ first: Int, to steps: inout StepSet, isStart: Bool, isEnd: Bool) -> Bool {
    var pending = [first]
    while let step = pending.popLast() {
      guard steps.insert(step) else { continue }
      switch program[step] {
      case .set: continue
      case .split(let one, let two): pending += [two, one]
      case .jump(let target): pending.append(target)
      case .start: if isStart { pending.append(step + 1) }
      case .end: if isEnd { pending.append(step + 1) }
      case .match: return true
      }
    }
    return false
  }
}

/// Steps in the order of their insertion, each once.
private struct StepSet {
  private(set) var members: [Int] = []
  private var isMember: [Bool]

  init(count: Int) { isMember = Array(repeating: false, count: count) }

  mutating func insert(_ step: Int) -> Bool {
    guard !isMember[step] else { return false }
    isMember[step] = true
    members.append(step)
    return true
  }

  mutating func removeAll() {
    for step in members { isMember[step] = false }
    members.removeAll(keepingCapacity: true)
  }
}
