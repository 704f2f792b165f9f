import Clients
import Foundation
import Wire

/// Reads people for responses. Auth is called once for all users of a response.
extension PeopleCache {
  /// While auth does not answer, entries of any age are used, and a user without an entry is returned without a name
  /// and with number 0, which no user has: changing lists must not depend on auth.
  convenience init(users: UsersClient, now: @escaping @Sendable () -> Date) {
    self.init(
      now: now, placeholder: { Person(id: $0, number: 0, name: nil, isProven: false) },
      fetch: { try await users.people($0) })
  }

  /// The users in `ids` that exist. Those that are not cached are fetched from auth, in one call.
  ///
  /// - Parameter visible: the users whose addresses are included; those of all others are left out.
  func people(_ ids: Set<UserID>, withAddressesOf visible: Set<UserID> = []) async throws -> [UserID: Person] {
    var (people, missing) = unexpired(ids)
    // The cache is not read again: concurrent requests may have evicted some of these entries in between.
    if !missing.isEmpty { people.merge(try await fetch(missing)) { $1 } }
    return Self.hidingAddresses(of: people, except: visible)
  }

  /// The same from the cache alone, for use inside a transaction.
  ///
  /// - Throws: ``PeopleNotCached`` with the users to ``fetch(_:)`` first.
  func cached(
    _ ids: Set<UserID>, withAddressesOf visible: Set<UserID> = []
  ) throws(PeopleNotCached) -> [UserID: Person] {
    let (people, missing) = unexpired(ids)
    guard missing.isEmpty else { throw PeopleNotCached(ids: missing) }
    return Self.hidingAddresses(of: people, except: visible)
  }

  private static func hidingAddresses(
    of people: [UserID: Person], except visible: Set<UserID>
  ) -> [UserID: Person] {
    people.mapValues { visible.contains($0.id) ? $0 : $0.withoutAddresses }
  }
}

extension Person {
  fileprivate var withoutAddresses: Person {
    Person(id: id, number: number, name: name, locale: locale, timeZone: timeZone, isProven: isProven)
  }
}

/// Users of a response that are not cached yet.
struct PeopleNotCached: Error {
  let ids: Set<UserID>
}
