import Clients
import Database
import Foundation
import Outbox
import Wire

/// The file of `/storage/v1` that an account's avatar is: it is deleted when the account has another avatar, or none.
/// A file of another user that an `avatar_url` names is left alone.
enum AvatarFile {
  private static let kind = "avatar_replaced"

  /// Enqueues the deletion of the present avatar's file, before the change. The caller has locked the account.
  static func delete(
    of user: UserID, replacedBy url: String?, _ outbox: Outbox, at now: Date, on db: any Connection
  ) throws {
    guard let old = try file(of: user, on: db), old != url.flatMap({ name(in: $0, of: user) }) else { return }
    try outbox.add(kind, StoredObjectDeletion(owner: user, names: [old]), user: user, at: now, on: db)
  }

  /// Deletes the file unless it is the account's avatar again.
  static func delivery(_ database: any Database, _ storage: StorageClient) -> Delivery {
    // Groups may be away for a while. A file that is left is deleted when the account is erased.
    Delivery(kind, giveUpAfter: Delivery.month) { message in
      let deletion = try message.decode(StoredObjectDeletion.self)
      let current = try await database.readOnce { db in try file(of: deletion.owner, on: db) }
      try await storage.delete(deletion.names.filter { $0 != current }, of: deletion.owner)
    }
  }

  private static func file(of user: UserID, on db: any Connection) throws -> StoredObjectName? {
    try db.row("select avatar_url from account where id = \(user)")?.optional("avatar_url", as: String.self)
      .flatMap { name(in: $0, of: user) }
  }

  private static func name(in url: String, of user: UserID) -> StoredObjectName? {
    StoredObjectName(url: url).flatMap { $0.bucket == .avatars && $0.owner == user ? $0 : nil }
  }
}
