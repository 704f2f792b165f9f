import Database
import Foundation

extension Postgres {
  /// Runs the pending migrations, under a lock that all replicas share, as the role of `migrationURL` if there is one.
  /// A role that only uses the tables can call this as well: it needs no further rights when nothing is pending.
  ///
  /// - Throws: ``DatabaseFailure/unusable`` with one line that says what to fix.
  package func migrate(_ migrations: [Migration]) async throws {
    do {
      // Through a connection that the service goes on using.
      if migrationURL == nil, !url.isPooledByTransaction, try await !hasPending(migrations) { return }
      try await runPending(migrations)
    } catch DatabaseFailure.unavailable(let message) {
      throw DatabaseFailure.unusable("PostgreSQL does not answer: \(message)")
    }
  }

  private func hasPending(_ migrations: [Migration]) async throws -> Bool {
    try await pool.withConnection { [self] in try !pending(migrations, through: $0.openHandle()).isEmpty }
  }

  private func runPending(_ migrations: [Migration]) async throws {
    let connection = PooledConnection(name: "\(schema)-migrations") { [directURL, migrationURL, schema] in
      // Rewriting a large table may take minutes: ten.
      try ConnectionHandle(
        migrationURL ?? directURL, Self.settings(schema, statementTimeoutMilliseconds: 600_000))
    }
    defer { connection.close() }
    try await connection.run { [self] connection in
      let handle = try connection.openHandle()
      // Without the lock, as the role may not be allowed to create anything.
      if migrationURL == nil, try pending(migrations, through: handle).isEmpty { return }
      try runPending(migrations, through: handle)
    }
  }

  private func runPending(_ migrations: [Migration], through handle: ConnectionHandle) throws {
    try handle.script("select pg_advisory_lock(hashtextextended('kith migrations of \(schema)', 0))")
    do {
      try handle.script("create schema if not exists \"\(schema)\"; \(Migration.createTable)")
    } catch DatabaseFailure.refused {
      throw DatabaseFailure.unusable(
        "migrations of \(schema) are pending, which this role may not run: set MIGRATION_DATABASE_URL and run "
          + "`kith-\(schema) migrate`")
    }
    let pending = try pending(migrations, through: handle)
    // `pending` is a slice: its indices are the positions in `migrations`.
    for (position, migration) in zip(pending.indices, pending) {
      try apply(migration, at: position, through: handle)
    }
    if migrationURL != nil { try grantUse(to: try serviceRole(), through: handle) }
  }

  /// The migrations that are not applied yet: all of them when the schema does not exist.
  private func pending(_ migrations: [Migration], through handle: ConnectionHandle) throws -> ArraySlice<Migration> {
    let tables: SQL = "select 1 as one from pg_tables where schemaname = \(schema) and tablename = 'migration'"
    guard try handle.run([tables]).first?.rows.isEmpty == false else { return migrations[...] }
    let applied = try handle.run(["select name, checksum from migration where service = \(schema) order by position"])
      .flatMap(\.rows)
      .map { (name: try $0.get("name", as: String.self), checksum: try $0.get("checksum", as: String.self)) }
    return try Migration.pending(migrations, engine: .postgres, applied: applied)
  }

  private func apply(_ migration: Migration, at position: Int, through handle: ConnectionHandle) throws {
    do {
      try handle.script("begin; \(migration.text(for: .postgres))")
      let record: SQL = """
        insert into migration (service, position, name, checksum, applied_at)
        values (\(schema), \(position), \(migration.name), \(migration.checksum(for: .postgres)), \(Date()))
        """
      try handle.run([record])
      try handle.script("commit")
    } catch {
      throw DatabaseFailure.unusable("migration \(migration.name) failed: \(error)")
    }
  }

  private func serviceRole() throws -> String {
    try ConnectionHandle(url, Self.settings("public")).run(["select current_user::text as name"]).first?.rows.first?
      .get("name") ?? ""
  }

  /// Grants the use of all tables, also of those of earlier migrations: the role may be another one than before.
  private func grantUse(to role: String, through handle: ConnectionHandle) throws {
    let role = "\"" + role.replacingOccurrences(of: "\"", with: "\"\"") + "\""
    let appendOnly = appendOnlyTables.map { "revoke update, delete, truncate on \"\($0)\" from \(role);" }.joined()
    try handle.script(
      """
      grant usage on schema "\(schema)" to \(role);
      grant select, insert, update, delete on all tables in schema "\(schema)" to \(role);
      revoke insert, update, delete on migration from \(role); \(appendOnly)
      grant usage on all sequences in schema "\(schema)" to \(role)
      """)
  }
}
