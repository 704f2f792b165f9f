import Database
import Foundation
import Wire

/// How many people somebody may name on a day (UTC) to let them in. Without an end to it, lists would tell who is behind
/// every address and every number.
enum NamedPeople {
  static let perDay = 200

  /// Counts one, whoever it is.
  ///
  /// - Throws: 429 when the day's are used up.
  static func take(by user: UserID, at now: Date, on db: any Connection) throws {
    let took = try db.change(
      """
      insert into named_people (user_id, day, taken) values (\(user), \(Day(now, in: .gmt).name), 1)
      on conflict (user_id) do update set day = excluded.day,
        taken = case when named_people.day = excluded.day then named_people.taken + 1 else 1 end
      where named_people.day <> excluded.day or named_people.taken < \(perDay)
      """)
    guard took == 1 else { throw Failure.tooManyPeople(at: now) }
  }
}

extension Failure {
  fileprivate static func tooManyPeople(at now: Date) -> Failure {
    let left = Day(now, in: .gmt).end.timeIntervalSince(now).rounded(.up)
    return Failure(
      .limited, "too_many_people", "You have named too many people today.", retryAfterSeconds: Int(exactly: left))
  }
}
