/// A column, or a value in its JSON.
package struct Field: Hashable, Sendable {
  package let column: String
  package var path: [JSONStep] = []
}

/// One step of a JSON path: `->part` gives JSON, `->>part` text.
package struct JSONStep: Hashable, Sendable {
  package enum Part: Hashable, Sendable {
    case key(String), index(Int)
  }

  package let part: Part
  package let isText: Bool
}

/// What is asked of a table: the parameters of a URL, parsed but not yet compared with a table's declaration.
package struct Query: Sendable {
  package var selection: [SelectItem] = [.column(.all)]
  /// In the order of the text. Those of a path belong to an embedded resource.
  package var conditions: [Scoped<Condition>] = []
  package var orders: [Scoped<[OrderTerm]>] = []
  package var limits: [Scoped<Int>] = []
  package var offsets: [Scoped<Int>] = []
  package var columns: [String]?
  package var conflictColumns: [String]?
}

/// A part of a query that belongs to a resource: the empty path is the table of the request.
package struct Scoped<Part: Sendable>: Sendable {
  package let path: [String]
  package let part: Part
}

/// A condition on the rows of one resource.
package indirect enum Condition: Sendable, Hashable {
  case filter(Filter)
  case not(Condition)
  case and([Condition])
  case or([Condition])
}

/// `field=not.operator(any).value`
package struct Filter: Sendable, Hashable {
  package let field: Field
  package let isNegated: Bool
  package let test: Test
}

/// An operator with its operand.
package enum Test: Sendable, Hashable {
  case compare(Comparison, String)
  /// With the modifier `any` or `all`: the elements of an array literal, nil for its nulls.
  case compareEach(Comparison, Quantifier, [String?])
  case isWord(IsWord)
  case isIn([String])
  case contains(String)
  case containedBy(String)
  case overlaps(String)
}

package enum Comparison: String, Sendable, CaseIterable {
  case eq, neq, gt, gte, lt, lte, like, ilike, match, imatch, isdistinct

  var hasQuantifier: Bool { self != .neq && self != .isdistinct }
}

package enum Quantifier: String, Sendable {
  case any, all
}

package enum IsWord: String, Sendable, CaseIterable {
  // The longer word first: the other is its beginning.
  case notNull = "not_null"
  case null, `true`, `false`, unknown
}

/// One item of `select`.
package indirect enum SelectItem: Sendable, Hashable {
  case column(SelectedColumn)
  case embed(SelectedEmbed)
}

/// `alias:column->path::cast`, `*`, or `count()`.
package struct SelectedColumn: Sendable, Hashable {
  package var alias: String?
  package let field: Field
  package var cast: String?
  package var isCount = false

  package static let all = SelectedColumn(field: Field(column: "*"))
}

/// `...alias:name!hint!inner(items)`
package struct SelectedEmbed: Sendable, Hashable {
  package let alias: String?
  package let name: String
  package let hint: String?
  package let isInner: Bool
  package let isSpread: Bool
  package let items: [SelectItem]
}

/// One term of `order`.
package struct OrderTerm: Sendable, Hashable {
  /// An embedded to-one resource, to which the field belongs.
  package let relation: String?
  package let field: Field
  package let isDescending: Bool
  package let areNullsFirst: Bool
}
