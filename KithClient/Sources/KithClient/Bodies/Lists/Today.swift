/// The user's day.
public struct Today: Sendable, Equatable, Codable {
  /// How much of the day is done.
  public struct Stats: Sendable, Equatable, Codable {
    public let overdueCount: Int
    public let totalDueToday: Int
    public let completedToday: Int
    public let remainingToday: Int
    public let completionPercentage: Int

    private enum CodingKeys: String, CodingKey {
      case overdueCount = "overdue_count"
      case totalDueToday = "total_due_today"
      case completedToday = "completed_today"
      case remainingToday = "remaining_today"
      case completionPercentage = "completion_percentage"
    }

    public init(
      overdueCount: Int, totalDueToday: Int, completedToday: Int, remainingToday: Int, completionPercentage: Int
    ) {
      self.overdueCount = overdueCount
      self.totalDueToday = totalDueToday
      self.completedToday = completedToday
      self.remainingToday = remainingToday
      self.completionPercentage = completionPercentage
    }
  }

  /// Days in a row on which a task was done.
  public struct Streak: Sendable, Equatable, Codable {
    public let current: Int
    public let longest: Int

    public init(current: Int, longest: Int) {
      self.current = current
      self.longest = longest
    }
  }

  /// The day, such as `2026-11-21`.
  public let date: String?
  /// In which the day is.
  public let timezone: String?
  public let overdue: [ListTask]
  public let hasMoreOverdue: Bool?
  public let dueToday: [ListTask]
  public let completedToday: [ListTask]
  public let stats: Stats?
  public let streak: Streak?

  private enum CodingKeys: String, CodingKey {
    case date, timezone, overdue, stats, streak
    case hasMoreOverdue = "has_more_overdue"
    case dueToday = "due_today"
    case completedToday = "completed_today"
  }

  public init(
    date: String?, timezone: String?, overdue: [ListTask], hasMoreOverdue: Bool?, dueToday: [ListTask],
    completedToday: [ListTask], stats: Stats?, streak: Streak?
  ) {
    self.date = date
    self.timezone = timezone
    self.overdue = overdue
    self.hasMoreOverdue = hasMoreOverdue
    self.dueToday = dueToday
    self.completedToday = completedToday
    self.stats = stats
    self.streak = streak
  }
}
