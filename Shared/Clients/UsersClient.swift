import Foundation
import Web
import Wire

/// What other services ask of auth.
package struct UsersClient: Sendable {
  private let client: ServiceClient
  private let known = KnownPeople()

  package init(in surroundings: Surroundings) { client = ServiceClient(.auth, in: surroundings) }

  /// The user, or nil when there is none.
  package func profile(of user: UserID) async throws -> UserProfile? {
    try await Self.orNil { try await client.call(.GET, "/internal/users/\(user)") }
  }

  /// The active user that an outside system names: by our id, else by its own.
  package func user(knownAs name: String) async throws -> UserID? {
    guard Self.canNameSomebody(name) else { return nil }
    return try await Self.orNil {
      try await client.call(.GET, "/internal/users", query: ["known_as": name], as: UserProfile.self)
    }?.id
  }

  /// The user behind an outside system's id, made if need be. Safe to repeat.
  package func resolve(_ user: ResolveUser) async throws -> ResolvedUser {
    try await client.call(.POST, "/api/v1/users/resolve", body: user, isRepeatable: true)
  }

  /// The active user whom a bearer of an outside issuer names, made if need be. Safe to repeat.
  ///
  /// - Throws: 401 when the account was deactivated.
  package func identify(_ user: OutsideUser) async throws -> UserID {
    try await client.call(
      .POST, "/internal/users/identified", body: user, isRepeatable: true, as: UserProfile.self
    ).id
  }

  /// Who they are, however many, in calls of ``WhoAre/idsMax``. Who is unknown, deactivated or erased is left out.
  package func people(_ ids: Set<UserID>) async throws -> [UserID: Person] {
    var found: [UserID: Person] = [:]
    var left = Array(ids)[...]
    while !left.isEmpty {
      let some = WhoAre(ids: Array(left.prefix(WhoAre.idsMax)))
      left = left.dropFirst(WhoAre.idsMax)
      let answer: People = try await client.call(.POST, "/internal/users/people", body: some, isRepeatable: true)
      for person in answer.people { found[person.id] = person }
    }
    return found
  }

  /// The same for answers that show names and decide nothing: while auth does not answer, people as they were when it
  /// last did, without those who have not been asked about.
  package func names(of ids: Set<UserID>) async throws -> [UserID: Person] {
    guard !ids.isEmpty else { return [:] }
    return try await known.people(ids) { try await people(ids) }
  }

  /// The same as ``people(_:)``, for at most ``WhoAre/idsMax`` of each, where the phone of whoever has one of `phones` is
  /// that one.
  package func people(_ ids: Set<UserID>, matching phones: Set<String>) async throws -> [UserID: Person] {
    let some = WhoAre(ids: Array(ids), phones: phones.sorted())
    let answer: People = try await client.call(.POST, "/internal/users/people", body: some, isRepeatable: true)
    return Dictionary(answer.people.filter { ids.contains($0.id) }.map { ($0.id, $0) }) { $1 }
  }

  /// Who is behind phone numbers in international form, at most ``WhoAre/idsMax``. Numbers of nobody are left out, and
  /// of those who do not want to be found by theirs.
  package func people(behind phones: Set<String>) async throws -> [Person] {
    let some = WhoAre(ids: [], phones: phones.sorted())
    return try await client.call(
      .POST, "/internal/users/people", body: some, isRepeatable: true, as: People.self
    ).people
  }

  /// Refuses who has proven nothing what reaches others.
  ///
  /// - Throws: 403 `not_proven`; 503 when auth does not answer.
  package func requireProven(_ user: UserID) async throws {
    guard try await people([user])[user]?.isProven ?? false else { throw Failure.notProven }
  }

  /// The active user behind an e-mail address that they have proven, a UUID or a number. Nobody is named by a phone
  /// number here. Whether the asker may name somebody by a UUID or a number is theirs to check: ``Relations``.
  package func person(named identifier: String) async throws -> Person? {
    try await person(["identifier": identifier])
  }

  /// The active user who has shown that an e-mail address is theirs: for what is only for who reads its mail.
  package func person(reading email: String) async throws -> Person? {
    try await person(["identifier": email, "verified": "true"])
  }

  private func person(_ query: [String: String]) async throws -> Person? {
    guard Self.canNameSomebody(query["identifier"] ?? "") else { return nil }
    return try await Self.orNil { try await client.call(.GET, "/internal/users/person", query: query) }
  }

  /// Sessions ended since the cursor of an earlier answer; all that matter when there is none.
  package func endedSessions(since cursor: Date?) async throws -> EndedSessions {
    var query = ["limit": String(EndedSessions.pageMax)]
    query["since"] = cursor.map(Instant.milliseconds)
    return try await .all { [query] last in
      var query = query
      query["after"] = last?.description
      // Once auth has answered it is worth waiting for.
      let timeout = Duration.seconds(last == nil ? 2 : 5)
      return try await client.call(.GET, "/internal/sessions/ended", query: query, timeout: timeout)
    }
  }

  /// Names come from outside: auth would refuse an empty one in words that mean nothing there, and could not even read a
  /// request with a very long one.
  private static func canNameSomebody(_ name: String) -> Bool {
    (1...ResolveUser.externalIDBytesMax).contains(name.utf8.count)
  }

  private static func orNil<T>(_ call: () async throws -> T) async throws -> T? {
    do { return try await call() } catch let failure as Failure where failure.kind == .notFound { return nil }
  }
}

extension Failure {
  package static let notProven = Failure(
    .forbidden, "not_proven", "Confirm your e-mail address or your phone number first.")
}
