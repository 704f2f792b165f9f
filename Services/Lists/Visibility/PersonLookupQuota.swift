import Database
import Foundation
import Wire

/// The daily quota (UTC) of people that a user may look up. Without a limit a client could find out which user has
/// which e-mail address or number. It ends with the day, so it is no `Quota`, whose window begins with the first use.
enum PersonLookupQuota {
  static let perDay = 200

  /// Counts one lookup, whatever its result.
  ///
  /// - Throws: 429 when the day's quota is used up.
  static func spend(by user: UserID, at now: Date, on db: any Connection) throws {
    let changed = try db.change(
      """
      insert into named_people (user_id, day, taken) values (\(user), \(LocalDay(now, in: .gmt).name), 1)
      on conflict (user_id) do update set day = excluded.day,
        taken = case when named_people.day = excluded.day then named_people.taken + 1 else 1 end
      where named_people.day <> excluded.day or named_people.taken < \(perDay)
      """)
    guard changed == 1 else { throw Failure.tooManyPeople(at: now) }
  }
}

extension Failure {
  fileprivate static func tooManyPeople(at now: Date) -> Failure {
    let seconds = LocalDay(now, in: .gmt).end.timeIntervalSince(now).rounded(.up)
    return Failure(
      .limited, "too_many_people", "You have named too many people today.", retryAfterSeconds: Int(exactly: seconds))
  }
}
