import Database
import Foundation
import Hummingbird
import Web
import Wire

/// The lists that somebody owns or shares.
struct ListRoutes: Sendable {
  let database: any Database
  let acquaintances: Acquaintances
  let once: Once
  let now: @Sendable () -> Date

  /// How many lists and members are written within less than a millisecond.
  private static let quickMax = 40

  func add(to routes: Router<Context>) {
    let mine = routes.forUsers()
    mine.get("/api/v1/lists", use: index)
    mine.post("/api/v1/lists", use: create)
    mine.get("/api/v1/lists/{list}", use: show)
    mine.patch("/api/v1/lists/{list}", use: change)
    mine.put("/api/v1/lists/{list}", use: change)
    mine.delete("/api/v1/lists/{list}", use: delete)
  }

  /// Whether somebody asks for all of their lists, of which most people have few.
  @Sendable static func isIndex(_ request: Request) -> Bool {
    request.method == .get && request.uri.string == "/api/v1/lists"
  }

  /// With `since`: only what has changed, and what is not there any more for this user. Few lists are found in one round
  /// trip and written at once, many piece by piece.
  @Sendable private func index(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (user, now) = (context.user, now())
    let since = try request.uri.queryParameters["since"].map { try ListsCursor(String($0)) }
    let page = try request.page()
    if since == nil, page == nil,
      let all = try await database.readOnce({ try ListView.few(of: user, at: now, on: $0) })
    {
      return try await elsewhere(if: all.reduce(0) { $0 + 1 + $1.members.count } > Self.quickMax) {
        let cursor = ListsCursor(all.map(\.list))
        let body = ListsBody(lists: try await bodies(all, for: user), cursor: cursor)
        return try Reply.exactJSON(body).response(to: request)
      }
    }
    return try await elsewhere(if: true) {
      let plan = try await database.read { try ListPlan(of: user, since: since, page, at: now, on: $0) }
      return try await response(to: request, plan, for: user, at: now)
    }
  }

  /// A long one has no tag: whether it has changed is what `since` is for.
  private func response(
    to request: Request, _ plan: ListPlan, for user: UserID, at now: Date
  ) async throws -> Response {
    let piece = { @Sendable (ids: [Int]) in
      try await bodies(try await database.readOnce { try ListView.some(ids, of: user, at: now, on: $0) }, for: user)
    }
    guard plan.pieces.count > 1 else {
      let lists = try await piece(plan.pieces.first ?? [])
      return try Reply.exactJSON(ListsBody(plan, lists)).response(to: request)
    }
    let answer = try await LongAnswer(ListsBody(plan, []), filling: "lists", pieces: plan.pieces.count) {
      try JSON.encodeExact(try await piece(plan.pieces[$0]))
    }
    return answer.response(to: request, tag: nil)
  }

  private func bodies(_ views: [ListView], for user: UserID) async throws -> [ListBody] {
    let people = try await acquaintances.people(
      views.reduce(into: []) { $0.formUnion($1.people) }, showing: [user])
    let tags = try await ListTagStore.tags(of: views.map(\.list), in: database)
    return views.map { ListBody($0, people, tags: tags[$0.list.id]) }
  }

  @Sendable private func create(_ request: Request, _ context: SignedIn) async throws -> Response {
    var fields = try await request.fields("list")
    if !fields.has("name") { fields.refuse("name", "cannot be blank") }
    let change = ListChange(&fields)
    try fields.finish()
    let (user, now) = (context.user, now())
    return try await once.answer(request, context) { db, acquaintances in
      let id = try ListStore.create(change.made(by: user, at: now), on: db)
      if let tags = change.tags { try ListTagStore.set(tags, on: id, by: user, on: db) }
      let view = try ListView.one(try ListStore.list(id, for: user, on: db), for: user, at: now, on: db)
      let people = try acquaintances.known(view.people, showing: [user])
      return try .exactJSON(["list": ListBody(view, people)], status: .created)
    }
  }

  @Sendable private func show(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (id, user, now) = (try context.id("list"), context.user, now())
    let (view, tasks, plan) = try await database.read { db in
      let list = try ListStore.list(id, for: user, on: db)
      let view = try ListView.one(list, for: user, at: now, on: db)
      guard !TaskPlan.isShort(list) else { return (view, try TaskView.all(of: list, on: db), nil as TaskPlan?) }
      return (view, [], try TaskPlan.page(nil, of: list, on: db).0)
    }
    let people = try await acquaintances.people(
      tasks.reduce(into: view.people) { $0.formUnion($1.people) }, showing: [user])
    let answer = TasksAnswer(
      database: database, acquaintances: acquaintances, list: view.list, user: user, now: now)
    let body = { @Sendable (tasks: [TaskBody]) in ["list": ListBody(view, people, tasks: tasks)] }
    guard let plan else {
      let whole = body(try await answer.bodies(of: tasks))
      return try Reply.exactJSON(whole).response(to: request, version: view.list.version)
    }
    return try await answer.response(to: request, plan, version: view.list.version, body: body)
  }

  @Sendable private func change(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (id, user, now, expected) = (try context.id("list"), context.user, now(), Expectation(request))
    var fields = try await request.fields("list")
    let change = ListChange(&fields)
    try fields.finish()
    return try await once.answer(request, context) { db, acquaintances in
      let list = try ListStore.hold(id, for: user, on: db)
      try expected.require(list.version)
      if change.applied(to: list) != list || change.tags != nil {
        try ListStore.save(change.applied(to: list), at: now, on: db)
      }
      if let tags = change.tags { try ListTagStore.set(tags, on: id, by: user, on: db) }
      let view = try ListView.one(try ListStore.list(id, for: user, on: db), for: user, at: now, on: db)
      let people = try acquaintances.known(view.people, showing: [user])
      return try .exactJSON(["list": ListBody(view, people)])
    }
  }

  @Sendable private func delete(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (id, user, now, expected) = (try context.id("list"), context.user, now(), Expectation(request))
    return try await once.answer(request, context) { db, _ in
      let list = try ListStore.hold(id, for: user, anyone: true, on: db)
      try list.requireOwner()
      try expected.require(list.version)
      try ListStore.delete(list, at: now, on: db)
      return .nothing
    }
  }
}

private struct ListsBody: Encodable {
  let lists: [ListBody]
  /// The ids of what is not there any more.
  let tombstones: [String]
  let deleted: [Tombstone]
  /// To be sent back as `since`.
  let cursor: String
  /// Only of a page.
  let page: Int?
  let per_page: Int?
  let has_more: Bool?

  init(lists: [ListBody], deleted: [Tombstone] = [], cursor: ListsCursor, page: Page? = nil, hasMore: Bool? = nil) {
    self.lists = lists
    self.tombstones = deleted.map { String($0.id) }
    self.deleted = deleted
    self.cursor = cursor.text
    self.page = page?.number
    self.per_page = page?.size
    self.has_more = hasMore
  }

  init(_ plan: ListPlan, _ lists: [ListBody]) {
    self.init(lists: lists, deleted: plan.gone, cursor: plan.cursor, page: plan.page, hasMore: plan.hasMore)
  }
}
