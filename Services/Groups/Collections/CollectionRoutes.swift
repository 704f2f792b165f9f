import ClientBodies
import Foundation
import Hummingbird
import Web
import Wire

/// The endpoints by which users list, create, rename, and delete collections.
struct CollectionRoutes: Sendable {
  let collections: CollectionStore
  let idempotency: Idempotency
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    let userRoutes = routes.group(context: SignedIn.self)
    userRoutes.get("/collections", use: list)
    userRoutes.post("/collections", use: create)
    userRoutes.get("/collections/{collection}", use: show)
    userRoutes.patch("/collections/{collection}", use: rename)
    userRoutes.delete("/collections/{collection}", use: delete)
  }

  @Sendable private func list(_ request: Request, _ context: SignedIn) async throws -> Response {
    let skip = try request.queryNumber("skip", default: 0, in: 0...Int(Int32.max))
    let take = try request.queryNumber("take", default: 25, in: 1...100)
    let (page, count) = try await collections.collections(of: context.user, skip: skip, take: take)
    return .exactJSON(DataAnswer(data: page.map(ClientBodies.SharedCollection.init), count: count))
  }

  @Sendable private func create(_ request: Request, _ context: SignedIn) async throws -> Response {
    var request = request
    let call = try await request.idempotentCall(by: context.user.description, context)
    let body = try await request.json(NewCollectionBody.self)
    let name = try Collection.name(body.name)
    let (now, user) = (now(), context.user)
    if let owner = body.userId {
      guard UserID(owner, prefix: .user) == user else { throw Failure.forbidden }
    }
    return try await idempotency.once(call) { db in
      let collection = try CollectionStore.create(.new(at: now), name, of: user, at: now, on: db)
      return try .exactJSON(DataAnswer(data: ClientBodies.SharedCollection(collection)), status: .created)
    }.response
  }

  @Sendable private func show(_ request: Request, _ context: SignedIn) async throws -> Response {
    let collection = try await collections.collection(context.collectionID(), seenBy: context.user)
    return .exactJSON(DataAnswer(data: ClientBodies.SharedCollection(collection)))
  }

  @Sendable private func rename(_ request: Request, _ context: SignedIn) async throws -> Response {
    let name = try Collection.name(try await request.json(CollectionNameBody.self).name)
    let collection = try await collections.rename(context.collectionID(), to: name, by: context.user, at: now())
    return .exactJSON(DataAnswer(data: ClientBodies.SharedCollection(collection)))
  }

  @Sendable private func delete(_ request: Request, _ context: SignedIn) async throws -> Response {
    try await collections.delete(context.collectionID(), by: context.user, at: now())
    return Response(status: .noContent)
  }
}

/// The request to create a collection.
private struct NewCollectionBody: Decodable {
  let name: String
  let userId: String?
}

/// The request to rename a collection.
private struct CollectionNameBody: Decodable {
  let name: String
}
