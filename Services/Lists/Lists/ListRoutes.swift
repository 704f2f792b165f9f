import ClientBodies
import Clients
import Database
import Foundation
import Hummingbird
import Web
import Wire

/// The routes for lists that the signed-in user owns or is a member of.
struct ListRoutes: Sendable {
  let database: any Database
  let peopleCache: PeopleCache
  let idempotentChange: IdempotentChange
  let now: @Sendable () -> Date

  /// How many lists and members are encoded in less than a millisecond.
  private static let inlineMax = 40

  func add(to routes: HTTPRoutes) {
    let userRoutes = routes.forUsers()
    userRoutes.get("/api/v1/lists", use: index)
    userRoutes.post("/api/v1/lists", use: create)
    userRoutes.offEventLoop().get("/api/v1/lists/{list}", use: show)
    userRoutes.patch("/api/v1/lists/{list}", use: change)
    userRoutes.put("/api/v1/lists/{list}", use: change)
    userRoutes.delete("/api/v1/lists/{list}", use: delete)
  }

  /// With `since`: only the lists that have changed, and tombstones of those that the user can no longer see. Few lists
  /// are read in one round trip and encoded at once, many are streamed in chunks.
  @Sendable private func index(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (user, now) = (context.user, now())
    let since = try request.uri.queryParameters["since"].map { try ListsCursor(String($0)) }
    let page = try request.page()
    if since == nil, page == nil,
      let all = try await database.readOnce({ try ListDetails.allIfFew(of: user, at: now, on: $0) })
    {
      return try await offEventLoop(if: all.reduce(0) { $0 + 1 + $1.members.count } > Self.inlineMax) {
        let cursor = ListsCursor(all.map(\.list))
        let body = ListsAnswer(lists: try await bodies(all, for: user), cursor: cursor)
        return try Reply.exactJSON(body).response(to: request)
      }
    }
    return try await offEventLoop(if: true) {
      let selection = try await database.read { try ListSelection(of: user, since: since, page, at: now, on: $0) }
      return try await response(to: request, selection, for: user, at: now)
    }
  }

  /// A streamed response has no entity tag: clients use `since` to find out whether anything has changed.
  private func response(
    to request: Request, _ selection: ListSelection, for user: UserID, at now: Date
  ) async throws -> Response {
    let chunk = { @Sendable (ids: [Int]) in
      try await bodies(
        try await database.readOnce { try ListDetails.withIDs(ids, of: user, at: now, on: $0) }, for: user)
    }
    guard selection.chunks.count > 1 else {
      let lists = try await chunk(selection.chunks.first ?? [])
      return try Reply.exactJSON(ListsAnswer(selection, lists)).response(to: request)
    }
    let streamed = try await StreamedResponse(
      ListsAnswer(selection, []), arrayMember: "lists", chunkCount: selection.chunks.count
    ) {
      try JSON.encodeExact(try await chunk(selection.chunks[$0]))
    }
    return streamed.response(to: request, tag: nil)
  }

  private func bodies(_ details: [ListDetails], for user: UserID) async throws -> [SharedList] {
    let people = try await peopleCache.people(
      details.reduce(into: []) { $0.formUnion($1.people) }, withAddressesOf: [user])
    let tags = try await ListTagStore.tags(of: details.map(\.list), in: database)
    return details.map { SharedList($0, people, tags: tags[$0.list.id]) }
  }

  @Sendable private func create(_ request: Request, _ context: SignedIn) async throws -> Response {
    var fields = try await request.fields("list")
    if !fields.has("name") { fields.addError("name", "cannot be blank") }
    let change = ListChange(&fields)
    try fields.validate()
    let (user, now) = (context.user, now())
    return try await idempotentChange.response(to: request, context) { db, peopleCache in
      let id = try ListStore.create(change.newList(ownedBy: user, at: now), on: db)
      if let tags = change.tags { try ListTagStore.set(tags, on: id, by: user, on: db) }
      let details = try ListDetails.one(try ListStore.list(id, for: user, on: db), for: user, at: now, on: db)
      let people = try peopleCache.cached(details.people, withAddressesOf: [user])
      return try .exactJSON(ListAnswer(list: SharedList(details, people)), status: .created)
    }
  }

  @Sendable private func show(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (id, user, now) = (try context.id("list"), context.user, now())
    let (details, tasks, selection) = try await database.read { db in
      let list = try ListStore.list(id, for: user, on: db)
      let details = try ListDetails.one(list, for: user, at: now, on: db)
      guard !TaskSelection.isShort(list) else {
        return (details, try TaskDetails.all(of: list, on: db), nil as TaskSelection?)
      }
      return (details, [], try TaskSelection.page(nil, of: list, on: db).0)
    }
    let people = try await peopleCache.people(
      tasks.reduce(into: details.people) { $0.formUnion($1.people) }, withAddressesOf: [user])
    let tasksResponse = ListTasksResponse(
      database: database, peopleCache: peopleCache, list: details.list, user: user, now: now)
    let body = { @Sendable (tasks: [ClientBodies.ListTask]) in
      ListAnswer(list: SharedList(details, people, tasks: tasks))
    }
    guard let selection else {
      let whole = body(try await tasksResponse.bodies(of: tasks))
      return try Reply.exactJSON(whole).response(to: request, version: details.list.version)
    }
    return try await tasksResponse.response(to: request, selection, version: details.list.version, body: body)
  }

  @Sendable private func change(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (id, user, now, ifMatch) = (try context.id("list"), context.user, now(), IfMatch(request))
    var fields = try await request.fields("list")
    let change = ListChange(&fields)
    try fields.validate()
    return try await idempotentChange.response(to: request, context) { db, peopleCache in
      let list = try ListStore.lock(id, for: user, on: db)
      try ifMatch.require(list.version)
      if change.applied(to: list) != list || change.tags != nil {
        try ListStore.save(change.applied(to: list), at: now, on: db)
        ListEvents.changed(change.applied(to: list), by: user, at: now, on: db)
      }
      if let tags = change.tags { try ListTagStore.set(tags, on: id, by: user, on: db) }
      let details = try ListDetails.one(try ListStore.list(id, for: user, on: db), for: user, at: now, on: db)
      let people = try peopleCache.cached(details.people, withAddressesOf: [user])
      return try .exactJSON(ListAnswer(list: SharedList(details, people)))
    }
  }

  @Sendable private func delete(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (id, user, now, ifMatch) = (try context.id("list"), context.user, now(), IfMatch(request))
    return try await idempotentChange.response(to: request, context) { db, _ in
      let list = try ListStore.lock(id, for: user, allowingViewers: true, on: db)
      try list.requireOwner()
      try ifMatch.require(list.version)
      try ListStore.delete(list, by: user, at: now, on: db)
      return .noContent
    }
  }
}

extension ListsAnswer {
  fileprivate init(
    lists: [SharedList], deleted: [Tombstone] = [], cursor: ListsCursor, page: Page? = nil, hasMore: Bool? = nil
  ) {
    self.init(
      lists: lists, tombstones: deleted.map { String($0.id) }, deleted: deleted, cursor: cursor.text,
      page: page?.number, perPage: page?.size, hasMore: hasMore)
  }

  fileprivate init(_ selection: ListSelection, _ lists: [SharedList]) {
    self.init(
      lists: lists, deleted: selection.tombstones, cursor: selection.cursor, page: selection.page,
      hasMore: selection.hasMore)
  }
}
