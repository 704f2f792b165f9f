import Foundation
import Web
import Wire

/// The internal API of auth.
package struct UsersClient: Sendable {
  private let client: ServiceClient
  private let batcher: PeopleBatcher
  private let cache: PeopleCache

  package init(in dependencies: Dependencies) {
    let client = ServiceClient(.auth, in: dependencies)
    self.client = client
    let batcher = PeopleBatcher { try await client.people($0) }
    self.batcher = batcher
    cache = PeopleCache(generationLifetime: .seconds(1800), now: dependencies.now) { try await batcher.people($0) }
  }

  /// The user, or nil when there is none.
  package func profile(of user: UserID) async throws -> UserProfile? {
    try await Self.orNil { try await client.call(.GET, "/internal/users/\(user)") }
  }

  /// The active user with a local id, or with the id that an external system has given to `users/resolve`.
  package func user(withAnyID name: String) async throws -> UserID? {
    guard Self.isPossibleName(name) else { return nil }
    return try await Self.orNil {
      try await client.call(.GET, "/internal/users", query: ["known_as": name], as: UserProfile.self)
    }?.id
  }

  /// The user with an external system's id, who is created if necessary. Safe to repeat.
  package func resolve(_ user: ResolveUser) async throws -> ResolvedUser {
    try await client.call(.POST, "/api/v1/users/resolve", body: user, isRepeatable: true)
  }

  /// The active user of an external issuer's token, who is created if necessary. Safe to repeat.
  ///
  /// - Throws: 401 when the account was deactivated.
  package func identify(_ user: ExternalUser) async throws -> UserID {
    try await client.call(
      .POST, "/internal/users/identified", body: user, isRepeatable: true, as: UserProfile.self
    ).id
  }

  /// The people with these ids, in calls of ``PeopleQuery/idsMax``. Unknown, deactivated and erased users are left out.
  package func people(_ ids: Set<UserID>) async throws -> [UserID: Person] { try await batcher.people(ids) }

  /// The same for responses that show names and make no decisions: while auth does not answer, the last known people,
  /// without those who were never fetched.
  package func names(of ids: Set<UserID>) async throws -> [UserID: Person] {
    guard !ids.isEmpty else { return [:] }
    return try await cache.fetch(ids)
  }

  /// The same as ``people(_:)``, for at most ``PeopleQuery/idsMax`` ids and as many phone numbers. A person with one of
  /// `phones` has that one as `phone`.
  package func people(_ ids: Set<UserID>, matching phones: Set<String>) async throws -> [UserID: Person] {
    let query = PeopleQuery(ids: Array(ids), phones: phones.sorted())
    let reply: People = try await client.call(.POST, "/internal/users/people", body: query, isRepeatable: true)
    return Dictionary(reply.people.filter { ids.contains($0.id) }.map { ($0.id, $0) }) { $1 }
  }

  /// The people with these phone numbers (E.164), at most ``PeopleQuery/idsMax``. Unknown numbers are left out, and
  /// those of users who do not want to be found by their number.
  package func people(withPhones phones: Set<String>) async throws -> [Person] {
    let query = PeopleQuery(ids: [], phones: phones.sorted())
    return try await client.call(
      .POST, "/internal/users/people", body: query, isRepeatable: true, as: People.self
    ).people
  }

  /// Requires that the user is proven, for actions that reach other users.
  ///
  /// - Throws: 403 `not_proven`; 503 when auth does not answer.
  package func requireProven(_ user: UserID) async throws {
    guard try await people([user])[user]?.isProven ?? false else { throw Failure.notProven }
  }

  /// The active user with a proven e-mail address, a UUID or a user number; never by a phone number. Whether the caller
  /// may use a UUID or a number is for the calling service to check: ``Relations``.
  package func person(named identifier: String) async throws -> Person? {
    guard Self.isPossibleName(identifier) else { return nil }
    return try await Self.orNil {
      try await client.call(.GET, "/internal/users/person", query: ["identifier": identifier])
    }
  }

  /// The sessions that ended since an earlier reply; without one, all whose tokens may still be valid.
  ///
  /// - Parameter previous: when it has a version, the call waits until more sessions have ended, for as long as the auth
  ///   that sent it allows, but at most ``EndedSessions/waitSecondsMax``.
  package func endedSessions(since previous: EndedSessions?) async throws -> EndedSessions {
    var query = ["limit": String(EndedSessions.pageMax)]
    query["since"] = (previous?.cursor).map(RFC3339.milliseconds)
    return try await .all { [query] last in
      var query = query
      query["after"] = last?.description
      // The first page has a short timeout, as auth may be down.
      var (timeout, through) = (Duration.seconds(last == nil ? 2 : 5), OutboundHTTP.client)
      if last == nil, let version = previous?.version {
        let allowed = previous?.waitSecondsMax ?? EndedSessions.waitSecondsOfOlderAuth
        let wait = min(allowed, EndedSessions.waitSecondsMax)
        query["version"] = version
        query["wait"] = String(wait)
        timeout += .seconds(wait)
        through = OutboundHTTP.clientForWaits
      }
      return try await client.call(
        .GET, "/internal/sessions/ended", query: query, timeout: timeout, through: through)
    }
  }

  /// Names come from clients: auth rejects an empty one with an error that would mislead them, and a request with a
  /// very long one altogether.
  private static func isPossibleName(_ name: String) -> Bool {
    (1...ResolveUser.externalIDBytesMax).contains(name.utf8.count)
  }

  private static func orNil<T>(_ call: () async throws -> T) async throws -> T? {
    do { return try await call() } catch let failure as Failure where failure.kind == .notFound { return nil }
  }
}

extension ServiceClient {
  fileprivate func people(_ ids: Set<UserID>) async throws -> [UserID: Person] {
    var found: [UserID: Person] = [:]
    var left = Array(ids)[...]
    while !left.isEmpty {
      let query = PeopleQuery(ids: Array(left.prefix(PeopleQuery.idsMax)))
      left = left.dropFirst(PeopleQuery.idsMax)
      let reply: People = try await call(.POST, "/internal/users/people", body: query, isRepeatable: true)
      for person in reply.people { found[person.id] = person }
    }
    return found
  }
}

extension Failure {
  package static let notProven = Failure(
    .forbidden, "not_proven", "Confirm your e-mail address or your phone number first.")
}
