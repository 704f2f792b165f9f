import Database

/// A table's name within one statement: `row.user_id` is the stored column `user_id` of the row that a rule is about.
@dynamicMemberLookup
package struct RowName: Sendable {
  let alias: String

  package subscript(dynamicMember column: String) -> SQL { self[column] }

  /// - Parameter column: the name of a column in the database, from a declaration and never from a request.
  subscript(_ column: String) -> SQL { SQL(stringLiteral: alias + "." + column) }

  var name: SQL { SQL(stringLiteral: alias) }
}

/// SQL about one row for one caller: a condition, or the value of a computed column.
package typealias RowExpression = @Sendable (RowName, Caller) -> SQL
