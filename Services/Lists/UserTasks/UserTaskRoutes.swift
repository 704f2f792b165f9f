import ClientBodies
import Clients
import Database
import Foundation
import Hummingbird
import Web
import Wire

/// The routes for tasks of all lists of the signed-in user.
struct UserTaskRoutes: Sendable {
  let database: any Database
  let peopleCache: PeopleCache
  let contactVisibility: ContactVisibility
  let now: @Sendable () -> Date
  private static let pageMax = 4000

  func add(to routes: HTTPRoutes) {
    let userRoutes = routes.forUsers().offEventLoop()
    userRoutes.get("/api/v1/tasks", use: index)
    userRoutes.get("/api/v1/tasks/search", use: search)
    userRoutes.get("/api/v1/today", use: today)
  }

  @Sendable private func index(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (user, now) = (context.user, now())
    var fields = RequestFields(request.queryFields)
    let name = fields.assignee("assigned_to", in: request)
    var filter = TaskFilter(&fields)
    let page = fields.number("page", 1...Self.pageMax).value ?? 1
    let size = fields.number("per_page", 1...50).value ?? 25
    try fields.validate()
    filter.assignee = try await assignee(name, user)
    let items = try await database.read { [filter] db in
      try filter.page(page, of: size, for: user, at: now, on: db)
    }
    let selection = TaskSelection(Array(items.prefix(size)), tasksMax: Page.sizeMax)
    return try await tasksResponse(for: user, at: now).response(to: request, selection) { tasks in
      TaskPage(tasks: tasks, page: page, perPage: size, hasMore: items.count > size)
    }
  }

  @Sendable private func search(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (user, now) = (context.user, now())
    let text = request.uri.queryParameters["q"]?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
    guard (1...TaskSearch.lengthMax).contains(text.unicodeScalars.count) else {
      throw Failure.invalid(.init("q", "must have 1 to \(TaskSearch.lengthMax) characters"))
    }
    let hits = try await database.readAllowingStale { db in try TaskSearch.hits(with: text, for: user, on: db) }
    let selection = TaskSelection(hits, tasksMax: TaskSearch.hitsMax)
    return try await tasksResponse(for: user, at: now).response(to: request, selection) { TasksAnswer(tasks: $0) }
  }

  /// The day is in the user's time zone, or in the one in the query.
  @Sendable private func today(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (user, now) = (context.user, now())
    let (zone, zoneName) = try await zone(request, user)
    let day = LocalDay(now, in: zone)
    let (today, details, streak) = try await database.read { db in
      let today = try Today(day, of: user, at: now, on: db)
      let details = try [today.overdue, today.dueToday, today.completedToday].map {
        try TaskDetails.withIDs($0, for: user, on: db)
      }
      return (today, details, try Streak.of(user, today: day.name, on: db))
    }
    let tasks = try await tasksResponse(for: user, at: now).bodies(of: details.flatMap(\.self))
    let split = (details[0].count, details[0].count + details[1].count)
    let body = ClientBodies.Today(
      date: day.name, timezone: zoneName, overdue: Array(tasks[..<split.0]),
      hasMoreOverdue: today.hasMoreOverdue, dueToday: Array(tasks[split.0..<split.1]),
      completedToday: Array(tasks[split.1...]), stats: .init(today),
      streak: .init(current: streak.current, longest: streak.longest))
    return try Reply.exactJSON(body).response(to: request)
  }

  private func tasksResponse(for user: UserID, at now: Date) -> UserTasksResponse {
    UserTasksResponse(database: database, peopleCache: peopleCache, user: user, now: now)
  }

  /// The assignee in the query; nil without one. A missing user becomes a random ID, which matches no task, in the same
  /// way as a user who shares no list with the caller.
  ///
  /// - Throws: 403 for another user's address when the caller has no verified credential, 429 when the lookup quota is
  ///   used up.
  private func assignee(_ name: String?, _ user: UserID) async throws -> UserID? {
    guard let name else { return nil }
    if name == "me" { return user }
    let missingUser = UserID.new(at: now())
    switch PersonIdentifier(name) {
    case .id(let text):
      // The filter only returns tasks that the caller may read.
      if let id = UserID(text) { return id }
      return try await personOnSharedLists(.id(text), user) ?? missingUser
    case .email(let address): return try await person(withEmail: address, user) ?? missingUser
    case .unsupported: return missingUser
    }
  }

  /// Searches only users who share a list with the caller.
  private func personOnSharedLists(_ number: PersonIdentifier, _ user: UserID) async throws -> UserID? {
    let ids = try await database.read { db in try SharedLists.people(with: user, on: db) }
    return try await peopleCache.people(ids.union([user])).values.first(where: number.identifies)?.id
  }

  /// Looking up an address follows the rules for adding a member: it is counted, and a block hides the user.
  private func person(withEmail address: String, _ user: UserID) async throws -> UserID? {
    let (name, now) = (PersonIdentifier.email(address), now())
    let me = try await peopleCache.people([user], withAddressesOf: [user])[user]
    if let me, name.identifies(me) { return user }
    try await contactVisibility.users.requireProven(user)
    try await database.write { db in try PersonLookupQuota.spend(by: user, at: now, on: db) }
    let person = try await contactVisibility.users.person(named: address)?.id
    // For a missing user the same call is made, so that its timing does not reveal that there is none.
    return try await contactVisibility.isBlocked(user, from: person ?? .new(at: now)) ? nil : person
  }

  /// The time zone in the query, or the user's current one, with its name, because Foundation's name for UTC is GMT.
  private func zone(_ request: Request, _ user: UserID) async throws -> (TimeZone, name: String) {
    guard let name = request.uri.queryParameters["timezone"] else {
      let zone = try await peopleCache.freshActingUser(user).timeZone
      return (zone, zone == .gmt ? "UTC" : zone.identifier)
    }
    guard (1...64).contains(name.utf8.count), let zone = TimeZone(identifier: String(name)) else {
      throw Failure.invalid(.init("timezone", "must be the name of a time zone, as Europe/Oslo"))
    }
    return (zone, zone == .gmt ? "UTC" : String(name))
  }
}

extension ClientBodies.Today.Stats {
  fileprivate init(_ today: Today) {
    self.init(
      overdueCount: today.overdueCount, totalDueToday: today.dueCount, completedToday: today.completedCount,
      remainingToday: today.dueCount - today.dueAndDoneCount,
      completionPercentage: today.dueCount == 0 ? 0 : today.dueAndDoneCount * 100 / today.dueCount)
  }
}

extension RequestFields {
  /// `me`, or a user's number, UUID or e-mail address, as it is in the query.
  fileprivate mutating func assignee(_ name: String, in request: Request) -> String? {
    guard let text = request.uri.queryParameters[name[...]].map(String.init) else { return nil }
    guard text.unicodeScalars.count <= 320, text == "me" || PersonIdentifier(text) != .unsupported else {
      addError(name, "must be me, an e-mail address or an id")
      return nil
    }
    return text
  }
}
