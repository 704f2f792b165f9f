import Database
import Foundation
import Wire

/// On how many days in a row somebody has completed something. Such a day stays one, whatever is reopened later.
struct Streak: Sendable, Hashable, Encodable {
  /// Up to today, or to yesterday as long as today can still become one.
  let current: Int
  let longest: Int

  private static let daysMax = 3660

  init(current: Int, longest: Int) {
    self.current = current
    self.longest = longest
  }

  /// - Parameter days: names of days (``Day/name``), the latest first.
  init(of days: [String], today: String) {
    let numbers = days.compactMap(Self.number)
    var (longest, run, current) = (0, 0, 0)
    let now = Self.number(today) ?? 0
    for (index, number) in numbers.enumerated() {
      let isNext = index > 0 && numbers[index - 1] == number + 1
      run = isNext ? run + 1 : 1
      longest = max(longest, run)
      // The run that began at the latest day, as far as it goes.
      if run == index + 1, let latest = numbers.first, (now - 1...now + 1).contains(latest) { current = run }
    }
    self.init(current: current, longest: longest)
  }

  static func note(_ now: Date, of doer: Doer, on db: any Connection) throws {
    try db.change(
      """
      insert into completion_day (user_id, day) values (\(doer.user), \(Day(now, in: doer.zone).name))
      on conflict (user_id, day) do nothing
      """)
  }

  /// - Parameter today: where the user lives now; they may have lived elsewhere when a day was noted.
  static func of(_ user: UserID, today: String, on db: any Connection) throws -> Streak {
    let rows = try db.rows(
      "select day from completion_day where user_id = \(user) order by day desc limit \(daysMax)")
    return Streak(of: try rows.map { try $0.get("day") }, today: today)
  }

  /// Days since 1970 of a day's name, nil for anything else.
  private static func number(_ name: String) -> Int? {
    Instant.parse("\(name)T00:00:00Z").map { Int($0.timeIntervalSince1970 / 86_400) }
  }
}
