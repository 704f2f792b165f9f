import Foundation
import GRDB
import Synchronization

/// Maps SQLite's result codes and messages to the failures that both engines share.
enum SQLiteFailure {
  static func failure(for error: DatabaseError, indexes: UniqueIndexes) -> DatabaseFailure {
    let message = error.message ?? ""
    switch error.extendedResultCode {
    case .SQLITE_CONSTRAINT_UNIQUE, .SQLITE_CONSTRAINT_PRIMARYKEY:
      return .unique(indexes.name(forColumns: tail(of: message)))
    case .SQLITE_CONSTRAINT_CHECK: return .check(tail(of: message))
    case .SQLITE_CONSTRAINT_FOREIGNKEY: return .foreignKey
    case .SQLITE_CONSTRAINT_NOTNULL: return .notNull(column: tail(of: message))
    case .SQLITE_CONSTRAINT_TRIGGER: return .refused(message)
    default: break
    }
    switch error.resultCode {
    case .SQLITE_BUSY, .SQLITE_LOCKED: return .contended
    case .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_READONLY, .SQLITE_CANTOPEN: return .full(message)
    case .SQLITE_INTERRUPT, .SQLITE_ABORT: return .unavailable(message)
    // PostgreSQL's code for what exceeds a limit of the program.
    case .SQLITE_TOOBIG: return .other("54000: \(message)")
    default: return .other("\(error.resultCode): \(message)")
    }
  }

  /// A one-line message for an operator whose process does not start.
  static func message(for error: any Error) -> String {
    switch error {
    case let failure as DatabaseFailure: return "\(failure)"
    case let error as DatabaseError where error.resultCode == .SQLITE_NOTADB: return "is not a SQLite database"
    case let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT: return "is damaged"
    case let error as DatabaseError where error.resultCode == .SQLITE_CANTOPEN: return "cannot be opened"
    case let error as DatabaseError: return error.message ?? "\(error.resultCode)"
    default: return "cannot be opened (\(error.localizedDescription))"
    }
  }

  /// The part after the colon in "UNIQUE constraint failed: account.email" and similar messages.
  private static func tail(of message: String) -> String {
    message.range(of: ": ").map { String(message[$0.upperBound...]) } ?? message
  }
}

/// The names of unique indexes by their columns. SQLite reports the columns in place of the name.
final class UniqueIndexes: Sendable {
  private let names = Mutex<[String: String]>([:])

  /// - Throws: ``DatabaseFailure/unusable`` when two unique indexes have the same columns: their failures could not be
  ///   distinguished.
  func read(from db: GRDB.Database) throws {
    let indexes = try GRDB.Row.fetchAll(
      db,
      sql: """
        select t.name as "table", i.name as "index", group_concat(t.name || '.' || c.name, ', ') as columns
        from sqlite_master t, pragma_index_list(t.name) i, pragma_index_info(i.name) c
        where t.type = 'table' and i."unique" = 1 and i.origin = 'c'
        group by t.name, i.name
        """)
    var found: [String: String] = [:]
    for row in indexes {
      guard let columns = row["columns"] as String? else { continue }
      let name: String = row["index"]
      if let other = found.updateValue(name, forKey: columns) {
        throw DatabaseFailure.unusable("unique indexes \(other) and \(name) have the same columns")
      }
    }
    names.withLock { $0 = found }
  }

  /// The index on `columns` ("account.email, account.kind"), or SQLite's own text for a primary key or an expression.
  func name(forColumns columns: String) -> String {
    if columns.hasPrefix("index '") { return String(columns.dropFirst(7).dropLast()) }
    return names.withLock { $0[columns] } ?? columns
  }
}
