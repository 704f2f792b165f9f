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

  /// With `since`: only what has changed, and what is not there any more for this user.
  @Sendable private func index(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (user, now) = (context.user, now())
    let since = try request.uri.queryParameters["since"].map { try ListsCursor(String($0)) }
    let found =
      if let since {
        try await database.read { try Index(of: user, since: since, at: now, on: $0) }
      } else {
        try await database.readOnce { Index(try ListView.all(of: user, at: now, on: $0)) }
      }
    let tags = try await ListTagStore.tags(of: found.shown.map(\.list), in: database)
    return try await elsewhere(if: found.size > Self.quickMax) {
      let people = try await acquaintances.people(found.people)
      let body = ListsBody(
        lists: found.shown.map { ListBody($0, people, tags: tags[$0.list.id]) }, deleted: found.gone,
        cursor: ListsCursor(found.all.map(\.list)).text)
      return try Reply.exactJSON(body).response(to: request)
    }
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
      let view = try ListView.one(try ListStore.list(id, for: user, on: db), at: now, on: db)
      return try .exactJSON(["list": ListBody(view, try acquaintances.known(view.people))], status: .created)
    }
  }

  @Sendable private func show(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (id, user, now) = (try context.id("list"), context.user, now())
    let (view, tasks) = try await database.read { db in
      let list = try ListStore.list(id, for: user, on: db)
      return (try ListView.one(list, at: now, on: db), try TaskView.all(of: list, on: db))
    }
    let people = try await acquaintances.people(tasks.reduce(into: view.people) { $0.formUnion($1.people) })
    let body = ListBody(view, people, tasks: tasks.map { TaskBody($0, people, at: now) })
    return try Reply.exactJSON(["list": body]).response(to: request, version: view.list.version)
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
      let view = try ListView.one(try ListStore.list(id, for: user, on: db), at: now, on: db)
      return try .exactJSON(["list": ListBody(view, try acquaintances.known(view.people))])
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

/// What there is to show of somebody's lists, found out where waiting and counting harm nobody.
private struct Index: Sendable {
  let all: [ListView]
  let shown: [ListView]
  let gone: [Tombstone]
  /// Everybody who is shown.
  let people: Set<UserID>
  /// Of lists and members that are shown.
  let size: Int

  init(_ all: [ListView], shown: [ListView]? = nil, gone: [Tombstone] = []) {
    self.all = all
    self.shown = shown ?? all
    self.gone = gone
    people = self.shown.reduce(into: []) { $0.formUnion($1.people) }
    size = self.shown.reduce(0) { $0 + 1 + $1.members.count }
  }

  /// What has changed since, and what is not there any more.
  init(of user: UserID, since: ListsCursor, at now: Date, on db: any Connection) throws {
    let all = try ListView.all(of: user, at: now, on: db)
    let gone = since.ids.subtracting(all.map(\.list.id)).sorted()
    let deletions = try gone.pieces.reduce(into: [Int: Date]()) { deletions, ids in
      deletions.merge(try ListStore.deletions(of: ids, for: user, on: db)) { $1 }
    }
    self.init(
      all, shown: all.filter { since.isNews($0.list) },
      gone: gone.map { Tombstone(id: $0, deleted_at: deletions[$0] ?? now) })
  }
}

private struct ListsBody: Encodable {
  let lists: [ListBody]
  /// The ids of what is not there any more.
  let tombstones: [String]
  let deleted: [Tombstone]
  /// To be sent back as `since`.
  let cursor: String

  init(lists: [ListBody], deleted: [Tombstone], cursor: String) {
    self.lists = lists
    self.tombstones = deleted.map { String($0.id) }
    self.deleted = deleted
    self.cursor = cursor
  }
}
