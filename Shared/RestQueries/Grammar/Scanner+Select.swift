/// The items of `select` and the terms of `order`.
extension Scanner {
  mutating func selectItems() throws -> [SelectItem] {
    let items = try items(depth: 0)
    try expectEnd()
    return items
  }

  private mutating func items(depth: Int) throws -> [SelectItem] {
    skipBlanks()
    guard !isAtEnd, next != ")" else { return [] }
    var items: [SelectItem] = []
    repeat {
      skipBlanks()
      items.append(try item(depth: depth))
      guard items.count <= QueryBounds.selectedColumnsMax else {
        throw RestFailure.tooMuch("selected columns", max: QueryBounds.selectedColumnsMax)
      }
      skipBlanks()
    } while skip(",")
    return items
  }

  private mutating func item(depth: Int) throws -> SelectItem {
    if skip("*") { return .column(.all) }
    let isSpread = skip("...")
    let alias = isSpread ? nil : attempt { $0.alias() }
    // `try?` below: what is not an embedded resource is a column, whose failure is the one to report.
    if let embed = try attempt({ try $0.embed(alias: alias, isSpread: isSpread, depth: depth) }) {
      return .embed(embed)
    }
    guard !isSpread else { throw failure("a resource after \"...\"") }
    return .column(try column(alias: alias))
  }

  private mutating func alias() -> String? {
    // `try?`: what is not a name is not an alias.
    guard let name = try? name(), next == ":", peek(1) != ":" else { return nil }
    advance()
    return name
  }

  /// - Returns: nil when no list of items follows.
  private mutating func embed(alias: String?, isSpread: Bool, depth: Int) throws -> SelectedEmbed? {
    // `try?`: what has no name is not a resource.
    guard let name = try? name() else { return nil }
    var hint: String?
    var isInner = false
    while skip("!") {
      let word = try self.name()
      switch word {
      case "inner": isInner = true
      case "left": break
      default: hint = word
      }
    }
    guard next == "(" else {
      guard hint == nil, !isInner else { throw failure("\"(\"") }
      return nil
    }
    // `count()` is an aggregate.
    if Self.aggregates.contains(name), peek(1) == ")", hint == nil, !isSpread { return nil }
    guard depth < QueryBounds.embeddingMax else {
      throw RestFailure.tooMuch("depth of embedded resources", max: QueryBounds.embeddingMax)
    }
    advance()
    let items = try items(depth: depth + 1)
    try expect(")")
    return SelectedEmbed(alias: alias, name: name, hint: hint, isInner: isInner, isSpread: isSpread, items: items)
  }

  private static let aggregates: Set = ["count", "sum", "avg", "min", "max"]

  private mutating func column(alias: String?) throws -> SelectedColumn {
    let field = try field()
    if field.path.isEmpty, field.column == "count", skip("()") {
      return SelectedColumn(alias: alias, field: field, cast: try cast(), isCount: true)
    }
    guard next != "(" else { throw RestFailure.aggregatesOff }
    let cast = try cast()
    if skip(".") {
      let start = position
      let aggregate = take { ("a"..."z").contains($0) }
      guard Self.aggregates.contains(aggregate), skip("()") else { throw failure("an aggregate", at: start) }
      throw RestFailure.aggregatesOff
    }
    return SelectedColumn(alias: alias, field: field, cast: cast)
  }

  private mutating func cast() throws -> String? {
    guard skip("::") else { return nil }
    let type = take { $0 == "_" || $0 == " " || $0.properties.isAlphabetic || ("0"..."9").contains($0) }
    guard !type.isEmpty else { throw failure("a type") }
    return type
  }

  mutating func orderTerms() throws -> [OrderTerm] {
    var terms: [OrderTerm] = []
    repeat {
      skipBlanks()
      terms.append(try orderTerm())
      guard terms.count <= QueryBounds.orderTermsMax else {
        throw RestFailure.tooMuch("terms of order", max: QueryBounds.orderTermsMax)
      }
      skipBlanks()
    } while skip(",")
    try expectEnd()
    return terms
  }

  private mutating func orderTerm() throws -> OrderTerm {
    let related = attempt { scanner -> (String, Field)? in
      // `try?`: what is not `relation(field)` is a field, whose failure is the one to report.
      guard let name = try? scanner.name(), scanner.skip("("), let field = try? scanner.field(), scanner.skip(")")
      else { return nil }
      return (name, field)
    }
    let field = try related?.1 ?? field()
    let isDescending = skip(".desc")
    if !isDescending { _ = skip(".asc") }
    let areNullsFirst = skip(".nullsfirst") || (!skip(".nullslast") && isDescending)
    guard isAtEnd || next == "," || next == " " || next == "\t" else {
      throw failure("asc, desc, nullsfirst, nullslast or \",\"")
    }
    return OrderTerm(
      relation: related?.0, field: field, isDescending: isDescending, areNullsFirst: areNullsFirst)
  }
}
