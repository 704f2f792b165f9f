import Clients
import Database
import Foundation
import Wire

/// Finds the invite to a list that somebody names: by its code, or by its number where it waits for them.
struct ListEntries: Sendable {
  let invites: InviteStore
  let tries: CodeTries
  let users: UsersClient

  /// What was found, and whether it is for nobody's address, or for the asker's.
  struct Entry: Sendable {
    let invite: Invite
    let isAddressed: Bool
  }

  /// nil for a code of nothing, and for the number of what does not wait for the asker.
  ///
  /// - Throws: 429 after too many wrong codes.
  func entry(_ name: String, for asker: Asker, at now: Date) async throws -> Entry? {
    guard let found = try await found(name, for: asker, at: now) else { return nil }
    let entry = Entry(invite: found.invite, isAddressed: try await isAddressed(found.invite, to: asker.user))
    guard found.isByNumber else { return entry }
    return entry.isFor(asker.user) ? entry : nil
  }

  private struct Found: Sendable {
    let invite: Invite
    let isByNumber: Bool
  }

  /// A number is no secret: it needs no counting, unless it could be a code.
  private func found(_ name: String, for asker: Asker, at now: Date) async throws -> Found? {
    let (code, number) = (Secret(code: name), Int(name))
    guard code != nil || number != nil else { return try await tries.counted(by: asker, at: now) { _ in nil } }
    @Sendable func numbered(_ db: any Connection) throws -> Found? {
      try number.flatMap { try InviteStore.find(number: $0, on: db) }.map { Found(invite: $0, isByNumber: true) }
    }
    guard number == nil || name.utf8.count == Secret.linkCodeLength else {
      return try await invites.database.read { try numbered($0) }
    }
    return try await tries.counted(by: asker, at: now) { db in
      try invites.toList(code, on: db).map { Found(invite: $0, isByNumber: false) } ?? numbered(db)
    }
  }

  private func isAddressed(_ invite: Invite, to user: UserID) async throws -> Bool {
    guard invite.isForAnAddress else { return true }
    guard let email = try await invites.open(.email, of: invite.id) else { return false }
    // Where no mail can be sent, nobody can prove more than to have signed up with it.
    return try await users.person(named: email)?.id == user
  }
}

extension ListEntries.Entry {
  /// Whether it waits for this user, and not for whoever has its code.
  func isFor(_ user: UserID) -> Bool {
    invite.isForAnAddress ? isAddressed : invite.invitee == user
  }
}

extension InviteStore {
  func toList(_ code: Secret?, on db: any Connection) throws -> Invite? {
    guard let code, let invite = try Self.find(code, keys, on: db), invite.destination.kind == .list else { return nil }
    return invite
  }
}
