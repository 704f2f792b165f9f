/// Parses the query of a URL.
extension Query {
  /// - Throws: ``RestFailure``, PGRST100 for everything that the grammar does not know.
  package init(parsing text: String) throws {
    for (name, value) in try URLParameters(text).all { try read(name, value) }
    let tests = conditions.flatMap(\.part.tests)
    guard tests.reduce(0, { $0 + $1.count }) <= QueryBounds.conditionsMax else {
      throw RestFailure.tooMuch("conditions", max: QueryBounds.conditionsMax)
    }
    let expressions = tests.filter(\.isExpression)
    guard expressions.reduce(0, { $0 + $1.count }) <= QueryBounds.expressionsMax else {
      throw RestFailure.tooMuch("regular expressions", max: QueryBounds.expressionsMax)
    }
  }

  private mutating func read(_ name: String, _ value: String) throws {
    switch name {
    case "select":
      var scanner = Scanner(value, subject: "select parameter")
      selection = try scanner.selectItems()
    case "columns": columns = try Self.names(value, subject: "columns parameter")
    case "on_conflict": conflictColumns = try Self.names(value, subject: "on_conflict parameter")
    default: try readScoped(name, value)
    }
  }

  private mutating func readScoped(_ name: String, _ value: String) throws {
    var scanner = Scanner(name, subject: "parameter name")
    var path = [try scanner.field()]
    while scanner.skip(".") {
      path.append(try scanner.field())
      guard path.count <= QueryBounds.embeddingMax + 2 else {
        throw RestFailure.tooMuch("depth of embedded resources", max: QueryBounds.embeddingMax)
      }
    }
    try scanner.expectEnd()
    guard let last = path.popLast() else { return }
    if let wrong = path.first(where: { !$0.path.isEmpty }) { throw RestFailure.notEmbedded(wrong.column) }
    try read(last, of: path.map(\.column), value)
  }

  private mutating func read(_ last: Field, of path: [String], _ value: String) throws {
    guard last.path.isEmpty else { return try readFilter(last, of: path, value) }
    switch last.column {
    case "order":
      var scanner = Scanner(value, subject: "order")
      orders.append(Scoped(path: path, part: try scanner.orderTerms()))
    case "limit":
      // Any other text is ignored, as PostgREST does.
      if let limit = Self.integer(value) { limits.append(Scoped(path: path, part: limit)) }
    case "offset":
      if let offset = Self.integer(value) { offsets.append(Scoped(path: path, part: offset)) }
    case "and", "or": try readLogic(isOr: last.column == "or", of: path, value)
    default: try readFilter(last, of: path, value)
    }
  }

  private mutating func readFilter(_ field: Field, of path: [String], _ value: String) throws {
    var scanner = Scanner(value, subject: "filter")
    conditions.append(Scoped(path: path, part: .filter(try scanner.filter(on: field))))
  }

  /// `or=(…)`, `not.or=(…)`, `resource.not.and=(…)`
  private mutating func readLogic(isOr: Bool, of path: [String], _ value: String) throws {
    var scanner = Scanner(value, subject: "logic tree")
    let tree = try scanner.logicTree(isOr: isOr)
    scanner.skipBlanks()
    try scanner.expectEnd()
    let isNegated = path.last == "not"
    conditions.append(
      Scoped(path: isNegated ? path.dropLast() : path, part: isNegated ? .not(tree) : tree))
  }

  private static func names(_ text: String, subject: String) throws -> [String] {
    var scanner = Scanner(text, subject: subject)
    var names: [String] = []
    repeat {
      scanner.skipBlanks()
      names.append(try scanner.name())
      scanner.skipBlanks()
    } while scanner.skip(",")
    try scanner.expectEnd()
    return names
  }

  /// A decimal number; one of too many digits is the largest or the smallest.
  private static func integer(_ text: String) -> Int? {
    if let number = Int(text) { return number }
    let digits = text.drop { $0 == "-" || $0 == "+" }
    guard !digits.isEmpty, text.count - digits.count <= 1, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else {
      return nil
    }
    return text.hasPrefix("-") ? .min : .max
  }
}

extension Condition {
  /// The tests of all its filters.
  var tests: [Test] {
    switch self {
    case .filter(let filter): [filter.test]
    case .not(let condition): condition.tests
    case .and(let conditions), .or(let conditions): conditions.flatMap(\.tests)
    }
  }
}

extension Test {
  /// How many comparisons a row may take.
  var count: Int {
    if case .compareEach(_, _, let elements) = self { max(1, elements.count) } else { 1 }
  }

  var isExpression: Bool {
    switch self {
    case .compare(let comparison, _), .compareEach(let comparison, _, _):
      comparison == .match || comparison == .imatch
    default: false
    }
  }
}
