import Crypto
import Foundation

/// One step of a service's schema. The list only ever grows: a step that has been applied is never changed, and a start
/// that finds one changed stops.
package struct Migration: Sendable {
  package let name: String
  private let texts: [Engine: String]

  /// A step whose text serves both engines. SQLite takes PostgreSQL's type names as they are.
  package init(_ name: String, _ sql: String) {
    self.init(name, sqlite: sql, postgres: sql)
  }

  /// A step that the engines spell differently: triggers, mostly.
  package init(_ name: String, sqlite: String, postgres: String) {
    self.name = name
    self.texts = [.sqlite: sqlite, .postgres: postgres]
  }

  package func text(for engine: Engine) -> String { texts[engine] ?? "" }

  package func checksum(for engine: Engine) -> String {
    SHA256.hash(data: Data(text(for: engine).utf8)).map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
  }

  /// What has been applied. Services that share one SQLite file share this table.
  package static let ledger = """
    create table if not exists migration (
      service text not null,
      position integer not null,
      name text not null,
      checksum text not null,
      applied_at text not null,
      primary key (service, position)
    )
    """

  /// Which of `migrations` are still to be applied.
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
    // Steps of a newer version may be there: after a rollback the older program still has to start.
    return migrations.dropFirst(applied.count)
  }
}
