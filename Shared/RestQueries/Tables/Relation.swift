/// How rows of a table belong to rows of another of the same service, for embedding one in the other.
package struct Relation: Sendable {
  package enum Cardinality: Sendable {
    /// Many rows of this table belong to one of the target: an object or null.
    case one
    /// One row of this table has many of the target: an array.
    case many
  }

  /// The name of the target table on the wire.
  let target: String
  let cardinality: Cardinality
  /// Of this table, on the wire.
  let column: String
  /// Of the target, on the wire.
  let targetColumn: String

  /// This table's `column` is the id of a row of `target`.
  package static func one(_ target: String, by column: String, to targetColumn: String = "id") -> Relation {
    Relation(target: target, cardinality: .one, column: column, targetColumn: targetColumn)
  }

  /// The `column` of `target` is the id of a row of this table.
  package static func many(_ target: String, by column: String, to ownColumn: String = "id") -> Relation {
    Relation(target: target, cardinality: .many, column: ownColumn, targetColumn: column)
  }

  /// The column that refers to the other table, by which a query chooses among several relations.
  var hint: String { cardinality == .one ? column : targetColumn }

  func isNamed(_ name: String, hint: String?) -> Bool {
    let isNamed = name == target || (cardinality == .one && name == column)
    return isNamed && (hint.map { $0 == self.hint || $0 == target } ?? true)
  }
}
