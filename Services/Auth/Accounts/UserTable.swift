import Database
import Foundation
import RestQueries
import Wire

/// The accounts as the table `users`, for apps that read tables: everybody sees and changes their own row.
enum UserTable {
  /// - Parameter origin: scheme and host of this server, whose stored files may be avatars.
  static func schema(origin: String, _ profiles: ProfileStore) -> RestSchema {
    RestSchema(
      Table(
        "users", from: "account",
        columns: [
          Column("id", .uuid, .key), Column("email", .text, .never), Column("display_name", .text),
          Column("avatar_url", .text), Column("created_at", .timestamp, .createdAt),
          Column("updated_at", .timestamp, .updatedAt),
        ],
        access: Access(sees: isOwn, updates: isOwn),
        writes: TableWrites(update: { keys, row, caller, db in
          let changes = try Self.changes(row, origin: origin)
          for key in keys {
            guard key == caller.id.description,
              try profiles.change(caller.id, changes, at: caller.rowTime, on: db) != nil
            else { throw DatabaseFailure.contended }
          }
        })))
  }

  private static let isOwn: RowExpression = { user, caller in
    "\(user.id) = \(caller.id) and \(user.deactivated_at) is null"
  }

  /// - Throws: ``RestFailure`` 23514 that names the first invalid column.
  private static func changes(_ row: RowValues, origin: String) throws -> ProfileChanges {
    do {
      var changes = try ProfileChanges(displayName: text(row["display_name"]))
      let avatar = text(row["avatar_url"])
      if let avatar, avatar.utf8.count <= avatarBytesMax, avatar.hasPrefix("\(origin)/storage/v1/object/") {
        changes.avatarURL = avatar
      } else {
        changes.avatarURL = try ProfileChanges(avatarURL: avatar).avatarURL
      }
      return changes
    } catch let failure as Failure {
      let column =
        row["display_name"] == nil || failure.fields.first?.field == "avatar_url" ? "avatar_url" : "display_name"
      throw RestFailure(
        400, "23514", "new row for relation \"users\" violates check constraint \"users_\(column)_check\"",
        details: failure.fields.first.map { "\(column) \($0.message)" })
    }
  }

  private static let avatarBytesMax = 2048

  /// nil for a column that is not set, the empty text for one that is set to null.
  private static func text(_ value: Value?) -> String? {
    switch value {
    case .text(let text)?: text
    case .null?: ""
    default: nil
    }
  }
}
