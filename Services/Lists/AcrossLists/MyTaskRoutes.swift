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
    let name = fields.assignee("assigned_to", in: request)
    var filter = TaskFilter(&fields)
    let page = fields.number("page", 1...Self.pageMax).value ?? 1
    let size = fields.number("per_page", 1...50).value ?? 25
    try fields.finish()
    filter.assignee = try await assignee(name, user)
    let views = try await database.read { [filter] db in
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
    let (zone, zoneName) = try await zone(request, user)
    let day = Day(now, in: zone)
    let (today, views, streak) = try await database.read { db in
      let today = try Today(day, of: user, at: now, on: db)
      let views = try [today.overdue, today.dueToday, today.completedToday].map { try TaskView.with($0, on: db) }
      return (today, views, try Streak.of(user, today: day.name, on: db))
    }
    let bodies = try await bodies(views.flatMap(\.self), for: user, at: now)
    let split = (today.overdue.count, today.overdue.count + today.dueToday.count)
    let body = TodayBody(
      date: day.name, timezone: zoneName, overdue: Array(bodies[..<split.0]),
      has_more_overdue: today.hasMoreOverdue, due_today: Array(bodies[split.0..<split.1]),
      completed_today: Array(bodies[split.1...]), stats: TodayBody.Stats(today), streak: streak)
    return try Reply.exactJSON(body).response(to: request)
  }

  private func bodies(_ views: [TaskView], for user: UserID, at now: Date) async throws -> [TaskBody] {
    let people = try await acquaintances.people(views.reduce(into: []) { $0.formUnion($1.people) }, showing: [user])
    return views.map { TaskBody($0, people, at: now) }
  }

  /// Whose tasks a query asks for; nil for anybody's.
  private func assignee(_ name: String?, _ user: UserID) async throws -> UserID? {
    guard let name else { return nil }
    if name == "me" { return user }
    // Nobody is looked for like somebody, and has no tasks, as a stranger has none that the user sees.
    return try await users.person(named: name)?.id ?? .new(at: now())
  }

  /// The zone that the query names, or the user's as it is now, with its name: Foundation calls UTC by another one.
  private func zone(_ request: Request, _ user: UserID) async throws -> (TimeZone, name: String) {
    guard let name = request.uri.queryParameters["timezone"] else {
      let zone = try await acquaintances.doerNow(user).zone
      return (zone, zone == .gmt ? "UTC" : zone.identifier)
    }
    guard (1...64).contains(name.utf8.count), let zone = TimeZone(identifier: String(name)) else {
      throw Failure.invalid(.init("timezone", "must be the name of a time zone, as Europe/Oslo"))
    }
    return (zone, zone == .gmt ? "UTC" : String(name))
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

extension Fields {
  /// `me`, or somebody's number, UUID or e-mail address, as it stands in the query.
  fileprivate mutating func assignee(_ name: String, in request: Request) -> String? {
    guard let text = request.uri.queryParameters[name[...]].map(String.init) else { return nil }
    guard text.unicodeScalars.count <= 320, text == "me" || PersonName(text) != .nobody else {
      refuse(name, "must be me, an e-mail address or an id")
      return nil
    }
    return text
  }
}
