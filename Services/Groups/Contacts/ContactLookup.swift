import Clients
import Database
import Foundation
import Quotas
import Wire

/// Looks up the names of group members, and the users who have given phone numbers, at the auth service.
struct ContactLookup: Sendable {
  let database: any Database
  let users: UsersClient
  let quotas: QuotaStore

  /// The first names of all members of these groups and of the senders of their last photos.
  func firstNames(in summaries: [GroupSummary]) async throws -> [UserID: String] {
    let ids = Set(
      summaries.flatMap { summary in
        summary.members.map(\.user) + [summary.lastPhoto?.sender].compactMap { $0 }
      })
    return try await users.names(of: ids).mapValues(\.firstName)
  }

  /// The result of looking up phone numbers.
  struct Matches: Sendable {
    var users: Set<UserID> = []
    /// Numbers that no user has, or only users who do not want to be found by theirs.
    var unmatchedNumbers: Set<String> = []
  }

  /// The users who have these phone numbers, without the caller. Lookups count against quotas, so that nobody can test
  /// arbitrarily many numbers.
  ///
  /// - Parameter clientAddress: the network address of the request, which has a quota of its own.
  /// - Throws: 403 `not_proven` when the caller has no verified e-mail address or phone number; 429 when the user's or
  ///   the address's daily quota of numbers is used up.
  func matches(
    of numbers: Set<String>, for user: UserID, from clientAddress: String, at now: Date
  ) async throws -> Matches {
    guard !numbers.isEmpty else { return Matches() }
    guard let own = try await users.people([user])[user], own.isProven else { throw Failure.notProven }
    try await takeQuota(numbers.count, for: user, from: clientAddress, at: now)
    let people = try await users.people(withPhones: numbers)
    let matched = Set((people + [own]).compactMap(\.phone))
    return Matches(
      users: Set(people.map(\.id)).subtracting([user]), unmatchedNumbers: numbers.subtracting(matched))
  }

  /// The largest number of phone numbers that a user may look up per day (UTC).
  static let numbersPerDay = 100
  private static let perAddress = Quota(name: "numbers named here", limit: 1000, window: .seconds(86_400))

  /// The user's quota ends with the day, unlike a ``Quota``, and is part of their row, which may not exist yet.
  private func takeQuota(
    _ count: Int, for user: UserID, from clientAddress: String, at now: Date
  ) async throws {
    let day = Date.ISO8601FormatStyle().year().month().day().format(now)
    try await database.write { [quotas] db in
      let taken = try db.change(
        """
        insert into person (user_id, group_count, group_count_max, numbers_day, numbers_count)
        values (\(user), 0, \(Group.groupCountMax), \(day), \(count))
        on conflict (user_id) do update set numbers_day = excluded.numbers_day, numbers_count = excluded.numbers_count
          + case when person.numbers_day = excluded.numbers_day then person.numbers_count else 0 end
          where person.numbers_day is null or person.numbers_day <> excluded.numbers_day
            or person.numbers_count + excluded.numbers_count <= \(Self.numbersPerDay)
        """)
      guard taken == 1 else { throw Failure.tooManyNumbers(at: now) }
      try quotas.take(Self.perAddress, count, for: clientAddress, at: now, on: db)
    }
  }
}

extension Failure {
  /// Asks the client to retry after midnight UTC, when the daily quota is reset.
  static func tooManyNumbers(at now: Date) -> Failure {
    let left = (86_400 - now.timeIntervalSince1970.truncatingRemainder(dividingBy: 86_400)).rounded(.up)
    return Failure(
      .limited, "too_many_numbers", "You have named too many phone numbers today.",
      retryAfterSeconds: Int(exactly: left))
  }
}
