import ClientBodies
import Database
import Foundation
import Hummingbird
import Web
import Wire

/// The routes for the signed-in user's own tags.
struct TagRoutes: Sendable {
  let database: any Database
  let idempotentChange: IdempotentChange
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    let userRoutes = routes.forUsers()
    userRoutes.offEventLoop().get("/api/v1/tags", use: index)
    userRoutes.post("/api/v1/tags", use: create)
    userRoutes.get("/api/v1/tags/{tag}", use: show)
    userRoutes.patch("/api/v1/tags/{tag}", use: change)
    userRoutes.put("/api/v1/tags/{tag}", use: change)
    userRoutes.delete("/api/v1/tags/{tag}", use: delete)
  }

  @Sendable private func index(_ request: Request, _ context: SignedIn) async throws -> Response {
    let user = context.user
    let tags = try await database.read { db in try TagStore.tags(of: user, on: db) }
    return try Reply.exactJSON(TagsAnswer(tags: tags.map(ClientBodies.ListTask.Tag.init))).response(to: request)
  }

  @Sendable private func create(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (user, now) = (context.user, now())
    var fields = try await request.fields("tag")
    if !fields.has("name") { fields.addError("name", "cannot be blank") }
    let change = TagChange(&fields)
    try fields.validate()
    return try await idempotentChange.response(to: request, context) { db, _ in
      let tag = try TagStore.create(change, of: user, at: now, on: db)
      return try .exactJSON(TagAnswer(tag: .init(tag)), status: .created)
    }
  }

  @Sendable private func show(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (id, user) = (try context.id("tag"), context.user)
    let tag = try await database.read { db in try TagStore.tag(id, of: user, on: db) }
    return try Reply.exactJSON(TagAnswer(tag: .init(tag))).response(to: request)
  }

  @Sendable private func change(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (id, user, now) = (try context.id("tag"), context.user, now())
    var fields = try await request.fields("tag")
    let change = TagChange(&fields)
    try fields.validate()
    return try await idempotentChange.response(to: request, context) { db, _ in
      try TagStore.change(id, of: user, to: change, at: now, on: db)
      return try .exactJSON(TagAnswer(tag: .init(try TagStore.tag(id, of: user, on: db))))
    }
  }

  @Sendable private func delete(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (id, user, now) = (try context.id("tag"), context.user, now())
    return try await idempotentChange.response(to: request, context) { db, _ in
      try TagStore.delete(id, of: user, at: now, on: db)
      return .noContent
    }
  }
}
