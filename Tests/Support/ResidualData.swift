import Database
import Foundation
import Web

/// Finds data that should have been erased.
package enum ResidualData {
  /// Those of `secrets` that any file contains.
  package static func inFiles(_ secrets: [String], of testDatabase: TestDatabase) throws -> [String] {
    let bytes = try contents(of: testDatabase.folder)
    return secrets.filter { secret in bytes.contains { $0.range(of: Data(secret.utf8)) != nil } }
  }

  /// The bytes of each file in a folder and below.
  package static func contents(of folder: URL) throws -> [Data] {
    let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    // `try?`: a folder has no data, and a file may have been deleted.
    return files.map { (try? Data(contentsOf: folder.appending(path: $0))) ?? Data() }
  }

  /// Those of `secrets` that any row of any service contains, on PostgreSQL.
  ///
  /// - Throws: ``Unexpected`` when a service has hardly any tables.
  package static func inRows(_ secrets: [String], of testDatabase: TestDatabase) async throws -> [String] {
    var found: Set<String> = []
    for service in ServiceName.bundled {
      let database = try await testDatabase.open(service.rawValue, [])
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
