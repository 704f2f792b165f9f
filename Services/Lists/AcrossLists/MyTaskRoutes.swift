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
  let naming: Naming
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
    let items = try await database.read { [filter] db in
      try filter.page(page, of: size, for: user, at: now, on: db)
    }
    let plan = TaskPlan(Array(items.prefix(size)), tasksMax: Page.sizeMax)
    return try await answer(for: user, at: now).response(to: request, plan) { tasks in
      PageBody(tasks: tasks, page: page, per_page: size, has_more: items.count > size)
    }
  }

  @Sendable private func search(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (user, now) = (context.user, now())
    let text = request.uri.queryParameters["q"]?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
    guard (1...TaskSearch.lengthMax).contains(text.unicodeScalars.count) else {
      throw Failure.invalid(.init("q", "must have 1 to \(TaskSearch.lengthMax) characters"))
    }
    let hits = try await database.read { db in try TaskSearch.hits(with: text, for: user, on: db) }
    let plan = TaskPlan(hits, tasksMax: TaskSearch.hitsMax)
    return try await answer(for: user, at: now).response(to: request, plan) { ["tasks": $0] }
  }

  /// In the user's time zone, or in the one that the query names.
  @Sendable private func today(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (user, now) = (context.user, now())
    let (zone, zoneName) = try await zone(request, user)
    let day = Day(now, in: zone)
    let (today, views, streak) = try await database.read { db in
      let today = try Today(day, of: user, at: now, on: db)
      let views = try [today.overdue, today.dueToday, today.completedToday].map {
        try TaskView.some($0, for: user, on: db)
      }
      return (today, views, try Streak.of(user, today: day.name, on: db))
    }
    let bodies = try await answer(for: user, at: now).bodies(of: views.flatMap(\.self))
    let split = (views[0].count, views[0].count + views[1].count)
    let body = TodayBody(
      date: day.name, timezone: zoneName, overdue: Array(bodies[..<split.0]),
      has_more_overdue: today.hasMoreOverdue, due_today: Array(bodies[split.0..<split.1]),
      completed_today: Array(bodies[split.1...]), stats: TodayBody.Stats(today), streak: streak)
    return try Reply.exactJSON(body).response(to: request)
  }

  private func answer(for user: UserID, at now: Date) -> MyTasksAnswer {
    MyTasksAnswer(database: database, acquaintances: acquaintances, user: user, now: now)
  }

  /// Whose tasks a query asks for; nil for anybody's. Nobody has no tasks, as a stranger has none that the user sees.
  ///
  /// - Throws: 403 for another's address and who has proven nothing, 429 for too many of them.
  private func assignee(_ name: String?, _ user: UserID) async throws -> UserID? {
    guard let name else { return nil }
    if name == "me" { return user }
    let nobody = UserID.new(at: now())
    switch PersonName(name) {
    case .id(let text):
      // The filter finds only what the user sees anyway.
      if let id = UserID(text) { return id }
      return try await personOfLists(.id(text), user) ?? nobody
    case .email(let address): return try await person(behind: address, user) ?? nobody
    case .nobody: return nobody
    }
  }

  /// Looked for only among those who are in the user's lists.
  private func personOfLists(_ number: PersonName, _ user: UserID) async throws -> UserID? {
    let ids = try await database.read { db in try SharedLists.people(with: user, on: db) }
    return try await acquaintances.people(ids.union([user])).values.first(where: number.isName)?.id
  }

  /// Who is behind an address is told as it is where somebody is let in: counted, and not across a block.
  private func person(behind address: String, _ user: UserID) async throws -> UserID? {
    let (name, now) = (PersonName.email(address), now())
    let me = try await acquaintances.people([user], showing: [user])[user]
    if let me, name.isName(of: me) { return user }
    try await naming.users.requireProven(user)
    try await database.write { db in try NamedPeople.take(by: user, at: now, on: db) }
    let person = try await naming.users.person(named: address)?.id
    // Nobody is asked about like somebody.
    return try await naming.isBlocked(user, from: person ?? .new(at: now)) ? nil : person
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
