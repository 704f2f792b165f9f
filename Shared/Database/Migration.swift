import Crypto
import Foundation

/// One step of a service's schema. Steps are only ever appended: an applied step is never changed, and a process that
/// finds a changed one does not start.
package struct Migration: Sendable {
  package let name: String
  private let texts: [Engine: String]

  /// A step with the same text for both engines. SQLite accepts PostgreSQL's type names.
  package init(_ name: String, _ sql: String) {
    self.init(name, sqlite: sql, postgres: sql)
  }

  /// A step whose text differs between the engines, as for triggers.
  package init(_ name: String, sqlite: String, postgres: String) {
    self.name = name
    self.texts = [.sqlite: sqlite, .postgres: postgres]
  }

  package func text(for engine: Engine) -> String { texts[engine] ?? "" }

  package func checksum(for engine: Engine) -> String {
    SHA256.hash(data: Data(text(for: engine).utf8)).map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
  }

  /// Creates the table of applied steps. Services that share one SQLite file share this table.
  package static let createTable = """
    create table if not exists migration (
      service text not null,
      position integer not null,
      name text not null,
      checksum text not null,
      applied_at text not null,
      primary key (service, position)
    )
    """

  /// The steps of `migrations` that are not applied yet.
  ///
  /// - Throws: ``DatabaseFailure/unusable`` when a step was changed after it had been applied.
  package static func pending(
    _ migrations: [Migration], engine: Engine, applied: [(name: String, checksum: String)]
  ) throws -> ArraySlice<Migration> {
    for (known, found) in zip(migrations, applied) {
      guard known.name == found.name, known.checksum(for: engine) == found.checksum else {
        throw DatabaseFailure.unusable("migration \(found.name) was changed after it had been applied")
      }
    }
    // More steps may be applied than this version has: after a rollback the older program still has to start.
    return migrations.dropFirst(applied.count)
  }
}
