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
  /// The table whose rows join the two, of a relation of many to many.
  var link: Link?

  /// A table whose rows have the ids of a row of this table and of a row of the target. Rows that the caller does not
  /// see join nothing.
  struct Link: Sendable {
    /// The name of the table on the wire.
    let table: String
    /// The id of a row of this table, in the link's.
    let column: String
    /// The id of a row of the target, in the link's.
    let targetColumn: String
  }

  /// This table's `column` is the id of a row of `target`.
  package static func one(_ target: String, by column: String, to targetColumn: String = "id") -> Relation {
    Relation(target: target, cardinality: .one, column: column, targetColumn: targetColumn)
  }

  /// The `column` of `target` is the id of a row of this table.
  package static func many(_ target: String, by column: String, to ownColumn: String = "id") -> Relation {
    Relation(target: target, cardinality: .many, column: ownColumn, targetColumn: column)
  }

  /// The rows of `link` have the id of a row of this table in `column`, and of a row of `target` in `targetColumn`.
  package static func many(
    _ target: String, through link: String, by column: String, to targetColumn: String
  ) -> Relation {
    Relation(
      target: target, cardinality: .many, column: "id", targetColumn: "id",
      link: Link(table: link, column: column, targetColumn: targetColumn))
  }

  /// The column that refers to the other table, or the table between the two, by which a query chooses among several
  /// relations.
  var hint: String { link?.table ?? (cardinality == .one ? column : targetColumn) }

  /// - Parameters:
  ///   - owner: the table that declares the relation.
  ///   - hint: a column, a table, or the name that PostgreSQL gives to the foreign key.
  func isNamed(_ name: String, hint: String?, of owner: String) -> Bool {
    let isNamed = name == target || (cardinality == .one && name == column)
    guard isNamed, let hint else { return isNamed }
    let foreignKey = "\(cardinality == .one ? owner : target)_\(self.hint)_fkey"
    return hint == self.hint || hint == target || link == nil && hint == foreignKey
  }
}
