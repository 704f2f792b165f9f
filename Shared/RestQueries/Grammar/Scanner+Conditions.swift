/// Filters and logic trees.
extension Scanner {
  /// `not.operator.value`, the value being the whole rest.
  mutating func filter(on field: Field) throws -> Filter {
    let filter = try operation(on: field) { scanner in scanner.takeRest() }
    try expectEnd()
    return filter
  }

  /// `(a.eq.1,and(b.gt.2,c.is.null),not.or(d.eq.1,e.eq.2))`
  mutating func logicTree(isOr: Bool, depth: Int = 1) throws -> Condition {
    guard depth <= QueryBounds.nestingMax else {
      throw RestFailure.tooMuch("depth of logic trees", max: QueryBounds.nestingMax)
    }
    skipBlanks()
    try expect("(")
    var conditions: [Condition] = []
    repeat {
      skipBlanks()
      conditions.append(try logicItem(depth: depth))
      guard conditions.count <= QueryBounds.conditionsMax else {
        throw RestFailure.tooMuch("conditions", max: QueryBounds.conditionsMax)
      }
      skipBlanks()
    } while skip(",")
    try expect(")")
    return isOr ? .or(conditions) : .and(conditions)
  }

  private mutating func logicItem(depth: Int) throws -> Condition {
    let tree = try attempt { scanner -> Condition? in
      let isNegated = scanner.skip("not.")
      let isOr = scanner.skip("or")
      guard isOr || scanner.skip("and") else { return nil }
      scanner.skipBlanks()
      guard scanner.next == "(" else { return nil }
      let tree = try scanner.logicTree(isOr: isOr, depth: depth + 1)
      return isNegated ? .not(tree) : tree
    }
    if let tree { return tree }
    let field = try field()
    try expect(".")
    return .filter(try operation(on: field) { try $0.logicValue() })
  }

  private mutating func operation(
    on field: Field, value: (inout Scanner) throws -> String
  ) throws -> Filter {
    let isNegated = skip("not.")
    return Filter(field: field, isNegated: isNegated, test: try test(value))
  }

  private mutating func test(_ value: (inout Scanner) throws -> String) throws -> Test {
    let start = position
    let word = take { ("a"..."z").contains($0) }
    if let comparison = Comparison(rawValue: word) { return try compare(comparison, value) }
    switch word {
    case "is":
      try expect(".")
      return .isWord(try isWord())
    case "in":
      try expect(".")
      return .isIn(try inList())
    case "cs", "cd", "ov":
      try expect(".")
      let operand = try value(&self)
      return word == "cs" ? .contains(operand) : word == "cd" ? .containedBy(operand) : .overlaps(operand)
    // No table has columns of ranges.
    case "sl", "sr", "nxl", "nxr", "adj": throw unsupported("comparing ranges (\(word))", at: start)
    case "fts", "plfts", "phfts", "wfts": throw unsupported("full-text search (\(word))", at: start)
    default:
      throw failure("operator (eq, gt, ...)", at: start)
    }
  }

  private mutating func compare(
    _ comparison: Comparison, _ value: (inout Scanner) throws -> String
  ) throws -> Test {
    guard comparison.hasQuantifier, skip("(") else {
      try expect(".")
      return .compare(comparison, try value(&self))
    }
    guard let quantifier: Quantifier = skip("any") ? .any : skip("all") ? .all : nil else {
      throw failure("\"any\" or \"all\"")
    }
    try expect(")")
    try expect(".")
    return .compareEach(comparison, quantifier, try ArrayLiteral.elements(of: try value(&self)))
  }

  private mutating func isWord() throws -> IsWord {
    let start = position
    let found = take { $0 == "_" || $0.properties.isAlphabetic }.lowercased()
    guard let word = IsWord(rawValue: found) else {
      throw failure("null, not_null, true, false or unknown", at: start)
    }
    return word
  }
}
