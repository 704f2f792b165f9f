import Database
import Foundation
import Web

/// What is still there of what should have been forgotten.
package enum Remains {
  /// Those of `secrets` that stand in some byte of some file.
  package static func inFiles(_ secrets: [String], of place: Place) throws -> [String] {
    let files = try FileManager.default.subpathsOfDirectory(atPath: place.folder.path)
    // `try?`: a folder has no bytes, and a file may have gone.
    let bytes = files.map { (try? Data(contentsOf: place.folder.appending(path: $0))) ?? Data() }
    return secrets.filter { secret in bytes.contains { $0.range(of: Data(secret.utf8)) != nil } }
  }

  /// Those of `secrets` that stand in some row of some service's on PostgreSQL.
  ///
  /// - Throws: ``Unexpected`` when a service has hardly any tables.
  package static func inRows(_ secrets: [String], of place: Place) async throws -> [String] {
    var found: Set<String> = []
    for service in ServiceName.built {
      let database = try await place.open(service.rawValue, [])
      let tables = try await database.read { db in
        try db.rows(
          """
          select table_name from information_schema.tables
          where table_schema = current_schema() and table_type = 'BASE TABLE'
          """
        ).map { try $0.get("table_name", as: String.self) }
      }
      guard tables.count > 3 else { throw Unexpected(reply: "\(service) has only \(tables)") }
      for table in tables {
        let name = SQL(stringLiteral: "\"\(table)\"")
        let rows = try await database.read { db in
          try db.rows("select cast(t as text) as whole from \(name) t").map { try $0.get("whole", as: String.self) }
        }
        for secret in secrets where rows.contains(where: { $0.contains(secret) }) { found.insert(secret) }
      }
      await database.close()
    }
    return found.sorted()
  }
}
