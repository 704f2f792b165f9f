import Database
import Foundation
import Wire

/// The number of consecutive days on which a user has completed a task. A day keeps counting when the task is reopened
/// later.
struct Streak: Sendable, Hashable {
  /// The streak that ends today, or yesterday while nothing has been completed today.
  let current: Int
  let longest: Int

  private static let daysMax = 3660

  init(current: Int, longest: Int) {
    self.current = current
    self.longest = longest
  }

  /// - Parameter days: names of days (``LocalDay/name``), latest first.
  init(of days: [String], today: String) {
    let numbers = days.compactMap(Self.number)
    var (longest, run, current) = (0, 0, 0)
    let now = Self.number(today) ?? 0
    for (index, number) in numbers.enumerated() {
      let isNext = index > 0 && numbers[index - 1] == number + 1
      run = isNext ? run + 1 : 1
      longest = max(longest, run)
      // The run that ends at the latest day.
      if run == index + 1, let latest = numbers.first, (now - 1...now + 1).contains(latest) { current = run }
    }
    self.init(current: current, longest: longest)
  }

  /// Records the day of a completion. Safe to repeat.
  static func record(_ now: Date, of actingUser: ActingUser, on db: any Connection) throws {
    let day = LocalDay(now, in: actingUser.timeZone).name
    try db.change(
      """
      insert into completion_day (user_id, day) values (\(actingUser.user), \(day))
      on conflict (user_id, day) do nothing
      """)
  }

  /// - Parameter today: the day in the user's current time zone, which may differ from the zone in which a day was
  ///   recorded.
  static func of(_ user: UserID, today: String, on db: any Connection) throws -> Streak {
    let rows = try db.rows(
      "select day from completion_day where user_id = \(user) order by day desc limit \(daysMax)")
    return Streak(of: try rows.map { try $0.get("day") }, today: today)
  }

  /// Days since 1970 of a day's name; nil for any other text.
  private static func number(_ name: String) -> Int? {
    RFC3339.parse("\(name)T00:00:00Z").map { Int($0.timeIntervalSince1970 / 86_400) }
  }
}
