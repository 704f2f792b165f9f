import Clients
import Database
import Foundation
import Wire

/// Who may name whom. A number or a UUID names only those with whom whoever names already shares a list, a group or a
/// collection; an e-mail address names whoever has proven that it is theirs; and nobody is named across a block. Everybody
/// else is answered as nobody would be, after the same questions.
struct Naming: Sendable {
  let database: any Database
  let users: UsersClient
  let groups: GroupsClient
  let now: @Sendable () -> Date

  /// - Parameter isKnown: whether whoever names knows somebody in a way of their own.
  /// - Throws: 503 when it depends on what another service knows that does not answer.
  func person(
    _ name: PersonName, by user: UserID, isKnown: @Sendable (UserID) async throws -> Bool = { _ in false }
  ) async throws -> Person? {
    let person = try await found(name)
    // Nobody is looked up like somebody, so that neither the calls nor their time tell them apart.
    let other = person?.id ?? UserID.new(at: now())
    if other == user { return person }
    let relations = try await relations(of: user, to: other)
    let isKnown = try await isKnown(other)
    guard !relations.blocked.contains(other) else { return nil }
    if case .email = name { return person }
    return relations.shared.contains(other) || isKnown ? person : nil
  }

  /// Whether a block keeps two apart who share a list. While groups does not answer, none is known.
  func isBlocked(_ user: UserID, from other: UserID) async throws -> Bool {
    do { return try await groups.relations(of: user, to: [other]).blocked.contains(other) } catch is Failure {
      return false
    }
  }

  private func found(_ name: PersonName) async throws -> Person? {
    switch name {
    case .email(let text), .id(let text): try await users.person(named: text)
    case .nobody: nil
    }
  }

  /// Who shares a list is known here; while groups does not answer, that is enough for them, and nobody else is known.
  private func relations(of user: UserID, to other: UserID) async throws -> Relations {
    let shared = try await database.readOnce { db in try SharedLists.people(with: user, among: [other], on: db) }
    do { return try await groups.relations(of: user, to: [other]).merging(Relations(shared: shared)) } catch let failure
      as Failure
    {
      guard !shared.isEmpty, failure.isOurs || failure.kind == .notFound else { throw Failure.unavailable }
      return Relations(shared: shared)
    }
  }
}

/// Who is in the same lists.
enum SharedLists {
  private static let peopleMax = 2000

  /// Everybody who is in a list with somebody, themselves too, up to a bound that keeps small what auth is asked.
  static func people(with user: UserID, on db: any Connection) throws -> Set<UserID> {
    let rows = try db.rows(
      """
      with mine as (
        select id from list where owner_id = \(user) and deleted_at is null
        union all select j.list_id from membership j join list l on l.id = j.list_id
          where j.user_id = \(user) and l.deleted_at is null)
      select l.owner_id as user_id from list l where l.id in (select id from mine)
      union select m.user_id from membership m where m.list_id in (select id from mine)
      order by user_id limit \(peopleMax)
      """)
    return Set(try rows.map { try $0.get("user_id") })
  }

  /// Those of `others` with whom somebody is in a list, in one query.
  static func people(with user: UserID, among others: Set<UserID>, on db: any Connection) throws -> Set<UserID> {
    let others = others.sorted { $0.description < $1.description }.padded
    let rows = try db.rows(
      """
      with mine as (
        select id from list where owner_id = \(user) and deleted_at is null
        union all select j.list_id from membership j join list l on l.id = j.list_id
          where j.user_id = \(user) and l.deleted_at is null)
      select l.owner_id as user_id from list l
        where l.id in (select id from mine) and l.owner_id in (\(list: others))
      union select m.user_id from membership m
        where m.list_id in (select id from mine) and m.user_id in (\(list: others))
      """)
    return Set(try rows.map { try $0.get("user_id") })
  }
}
