import Clients
import Database
import Foundation
import Hummingbird
import Web
import Wire

/// Somebody's tasks over all lists that they are in.
struct MyTaskRoutes: Sendable {
  let database: any Database
  let acquaintances: Acquaintances
  let users: UsersClient
  let now: @Sendable () -> Date
  private static let pageMax = 4000

  func add(to routes: Router<Context>) {
    let mine = routes.forUsers()
    mine.get("/api/v1/tasks", use: index)
    mine.get("/api/v1/tasks/search", use: search)
    mine.get("/api/v1/today", use: today)
  }

  @Sendable private func index(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (user, now) = (context.user, now())
    var fields = Fields(request.queryMembers)
    let filter = TaskFilter(&fields, assignee: try await assignee(request, user))
    try fields.finish()
    let page = try request.queryNumber("page", default: 1, in: 1...Self.pageMax)
    let size = try request.queryNumber("per_page", default: 25, in: 1...50)
    let views = try await database.read { db in
      try TaskView.with(try filter.page(page, of: size, for: user, at: now, on: db), on: db)
    }
    let bodies = try await bodies(Array(views.prefix(size)), for: user, at: now)
    let body = PageBody(tasks: bodies, page: page, per_page: size, has_more: views.count > size)
    return try Reply.exactJSON(body).response(to: request)
  }

  @Sendable private func search(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (user, now) = (context.user, now())
    let text = request.uri.queryParameters["q"]?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
    guard (1...TaskSearch.lengthMax).contains(text.unicodeScalars.count) else {
      throw Failure.invalid(.init("q", "must have 1 to \(TaskSearch.lengthMax) characters"))
    }
    let views = try await database.read { db in
      try TaskView.with(try TaskSearch.tasks(with: text, for: user, on: db), on: db)
    }
    return try Reply.exactJSON(["tasks": try await bodies(views, for: user, at: now)]).response(to: request)
  }

  /// In the user's time zone, or in the one that the query names.
  @Sendable private func today(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (user, now) = (context.user, now())
    let zone = try await zone(request, user)
    let day = Day(now, in: zone)
    let (today, views, streak) = try await database.read { db in
      let today = try Today(day, of: user, at: now, on: db)
      let views = try [today.overdue, today.dueToday, today.completedToday].map { try TaskView.with($0, on: db) }
      return (today, views, try Streak.of(user, today: day.name, on: db))
    }
    let bodies = try await bodies(views.flatMap(\.self), for: user, at: now)
    let split = (today.overdue.count, today.overdue.count + today.dueToday.count)
    let body = TodayBody(
      date: day.name, timezone: zone.identifier, overdue: Array(bodies[..<split.0]),
      has_more_overdue: today.hasMoreOverdue, due_today: Array(bodies[split.0..<split.1]),
      completed_today: Array(bodies[split.1...]), stats: TodayBody.Stats(today), streak: streak)
    return try Reply.exactJSON(body).response(to: request)
  }

  private func bodies(_ views: [TaskView], for user: UserID, at now: Date) async throws -> [TaskBody] {
    let people = try await acquaintances.people(views.reduce(into: []) { $0.formUnion($1.people) }, showing: [user])
    return views.map { TaskBody($0, people, at: now) }
  }

  /// Whose tasks a query asks for; nil for anybody's.
  ///
  /// - Throws: 422 for what can be nobody's name.
  private func assignee(_ request: Request, _ user: UserID) async throws -> UserID? {
    guard let text = request.uri.queryParameters["assigned_to"].map(String.init) else { return nil }
    if text == "me" { return user }
    let name = PersonName(text)
    guard text.unicodeScalars.count <= 320, name != .nobody else {
      throw Failure.invalid(.init("assigned_to", "must be me, an e-mail address or an id"))
    }
    // Nobody is looked for like somebody, and has no tasks, as a stranger has none that the user sees.
    return try await users.person(named: text)?.id ?? .new(at: now())
  }

  private func zone(_ request: Request, _ user: UserID) async throws -> TimeZone {
    guard let name = request.uri.queryParameters["timezone"] else { return try await acquaintances.doer(user).zone }
    guard (1...64).contains(name.utf8.count), let zone = TimeZone(identifier: String(name)) else {
      throw Failure.invalid(.init("timezone", "must be the name of a time zone, as Europe/Oslo"))
    }
    return zone
  }
}

private struct PageBody: Encodable {
  let tasks: [TaskBody]
  let page: Int
  let per_page: Int
  let has_more: Bool
}

private struct TodayBody: Encodable {
  let date: String
  let timezone: String
  let overdue: [TaskBody]
  let has_more_overdue: Bool
  let due_today: [TaskBody]
  let completed_today: [TaskBody]
  let stats: Stats
  let streak: Streak

  struct Stats: Encodable {
    let overdue_count: Int
    let total_due_today: Int
    let completed_today: Int
    let remaining_today: Int
    let completion_percentage: Int

    init(_ today: Today) {
      overdue_count = today.overdueCount
      total_due_today = today.dueCount
      completed_today = today.completedCount
      remaining_today = today.dueCount - today.dueAndDoneCount
      completion_percentage = today.dueCount == 0 ? 0 : today.dueAndDoneCount * 100 / today.dueCount
    }
  }
}
