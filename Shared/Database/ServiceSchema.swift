/// The tables of a service: the name of its schema, and its migrations.
package struct ServiceSchema: Sendable {
  /// The name of the service: of its schema on PostgreSQL, of its file on SQLite.
  package let name: String
  package let migrations: [Migration]
  /// Tables whose rows the service's role may read and insert, but neither update nor delete. It has an effect on
  /// PostgreSQL, when another role runs the migrations.
  package let appendOnlyTables: [String]
  /// Functions that the service's statements call and that SQLite lacks.
  package let sqliteFunctions: [SQLiteFunction]

  package init(
    _ name: String, _ migrations: [Migration], appendOnlyTables: [String] = [], sqliteFunctions: [SQLiteFunction] = []
  ) {
    self.name = name
    self.migrations = migrations
    self.appendOnlyTables = appendOnlyTables
    self.sqliteFunctions = sqliteFunctions
  }
}
