import Database
import Wire

/// What a service does in place of the one statement that a write consists of otherwise, where a row is more than one
/// row of one table. Who may do it, the answer, and what is counted stay as they are for every table.
package struct TableWrites: Sendable {
  /// Inserts one row under the key in its values.
  package typealias Insert = @Sendable (RowValues, Caller, any Connection) throws -> Void
  /// Changes the rows of those keys, which the caller was allowed to change when they were read. It locks them and looks
  /// again; where another transaction was first, it throws ``Database/DatabaseFailure/contended``.
  package typealias Update = @Sendable (_ keys: [String], RowValues, Caller, any Connection) throws -> Void
  /// Deletes the rows of those keys, under the same terms.
  package typealias Delete = @Sendable (_ keys: [String], Caller, any Connection) throws -> Void

  let insert: Insert?
  let update: Update?
  let delete: Delete?

  package init(insert: Insert? = nil, update: Update? = nil, delete: Delete? = nil) {
    self.insert = insert
    self.update = update
    self.delete = delete
  }
}

/// The values that a body sets, and on insert those that the server makes, by their names on the wire.
package struct RowValues: Sendable {
  private let values: [String: Value]
  private let nested: [String: JSONTree]

  init(_ values: [String: Value], nested: [String: JSONTree] = [:]) {
    self.values = values
    self.nested = nested
  }

  /// nil for a column that the body does not set; `.null` for one that it sets to null.
  package subscript(_ column: String) -> Value? { values[column] }

  /// A member of the body that is not a column.
  package func nested(_ name: String) -> JSONTree? { nested[name] }
}
