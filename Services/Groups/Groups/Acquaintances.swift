import Clients
import Database
import Foundation
import Quotas
import Wire

/// Who people are, and who is behind a phone number: asked of auth, all at once for each request.
struct Acquaintances: Sendable {
  let database: any Database
  let users: UsersClient
  let quotas: QuotaStore

  /// The first names of everyone in these groups.
  func firstNames(in sights: [GroupSight]) async throws -> [UserID: String] {
    let ids = Set(sights.flatMap { sight in sight.members.map(\.user) + [sight.lastPhoto?.sender].compactMap { $0 } })
    return try await users.names(of: ids).mapValues(\.firstName)
  }

  /// Whom somebody has named by their phone numbers.
  struct Named: Sendable {
    var users: Set<UserID> = []
    /// Of nobody, or of those who do not want to be found by theirs.
    var numbersOfNobody: Set<String> = []
  }

  /// Who is behind phone numbers, besides whoever asks. Looking up is rationed, as whoever could ask without end could ask
  /// for every number there is.
  ///
  /// - Parameter place: from where the user asks.
  /// - Throws: 403 to who has proven nothing; 429 when the user, or all from there, have named too many numbers today.
  func named(by numbers: Set<String>, for user: UserID, at place: String, _ now: Date) async throws -> Named {
    guard !numbers.isEmpty else { return Named() }
    guard let own = try await users.people([user])[user], own.isProven else { throw Failure.notProven }
    try await ration(numbers.count, for: user, at: place, now)
    let people = try await users.people(behind: numbers)
    let known = Set((people + [own]).compactMap(\.phone))
    return Named(
      users: Set(people.map(\.id)).subtracting([user]), numbersOfNobody: numbers.subtracting(known))
  }

  static let numbersPerDay = 100
  private static let perAddress = Quota(name: "numbers named here", limit: 1000, window: .seconds(86_400))

  private func ration(_ count: Int, for user: UserID, at place: String, _ now: Date) async throws {
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
      try quotas.take(Self.perAddress, count, for: place, at: now, on: db)
    }
  }
}

/// A phone number in international form (E.164).
enum PhoneNumber {
  /// - Throws: the validation failure that names `field`, unless each is a plus sign and 2 to 15 digits.
  static func required(_ numbers: [String], field: String, countMax: Int) throws(Failure) -> Set<String> {
    guard numbers.count <= countMax else { throw .invalid(.init(field, "must have at most \(countMax) numbers")) }
    for (index, number) in numbers.enumerated() where number.wholeMatch(of: /\+[1-9][0-9]{1,14}/) == nil {
      throw .invalid(.init("\(field).\(index)", "must be a phone number like +4712345678"))
    }
    return Set(numbers)
  }
}

extension Failure {
  /// Until the day is over, which is UTC's.
  static func tooManyNumbers(at now: Date) -> Failure {
    let left = (86_400 - now.timeIntervalSince1970.truncatingRemainder(dividingBy: 86_400)).rounded(.up)
    return Failure(
      .limited, "too_many_numbers", "You have named too many phone numbers today.",
      retryAfterSeconds: Int(exactly: left))
  }
}
