import Clients
import Foundation
import Hummingbird
import Web
import Wire

/// Links to lists: made and taken back by their owners.
struct ListLinkRoutes: Sendable {
  let codes: CodeLinks
  let destinations: Destinations
  let idempotency: Idempotency
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    let mine = routes.group(context: SignedIn.self)
    mine.post("/api/v1/lists/{list}/invites", use: create)
    mine.get("/api/v1/lists/{list}/invites", use: list)
    mine.delete("/api/v1/lists/{list}/invites", use: revokeAll)
    mine.delete("/api/v1/lists/{list}/invites/{invite}", use: revoke)
  }

  @Sendable private func create(_ request: Request, _ context: SignedIn) async throws -> Response {
    var request = request
    let call = try await request.idempotentCall(by: context.user.description, context)
    let (now, user) = (now(), context.user)
    let body = try await request.jsonIfAny(NewListLinkBody.self)?.invite
    let terms = try LinkTerms(body, roles: ["viewer", "editor"], at: now)
    return try await idempotency.claimed(call) {
      try await owned(context)
    } effect: { list, db in
      let made = try codes.make(to: .list(list), terms, by: user, at: now, on: db)
      return try .exactJSON(ListLinkBody(invite: codes.body(made, at: now)), status: .created)
    }.response
  }

  @Sendable private func list(_ request: Request, _ context: SignedIn) async throws -> Response {
    let list = try await owned(context)
    let now = now()
    let found = try await codes.links(to: .list(list)).map { codes.body($0, at: now) }
    return .exactJSON(CodeLinksBody(invites: found))
  }

  @Sendable private func revokeAll(_ request: Request, _ context: SignedIn) async throws -> Response {
    let list = try await owned(context)
    try await codes.revokeAll(to: .list(list), at: now())
    return Response(status: .noContent)
  }

  @Sendable private func revoke(_ request: Request, _ context: SignedIn) async throws -> Response {
    let list = try await owned(context)
    guard let id = try await codes.invites.id(named: context.parameters.get("invite") ?? "") else {
      throw Failure.inviteNotFound
    }
    try await codes.invites.revoke(id, to: .list(list), at: now())
    return Response(status: .noContent)
  }

  /// The list in the path, which the user owns.
  ///
  /// - Throws: 404 to strangers and without one, 403 to its members.
  private func owned(_ context: SignedIn) async throws -> Int {
    guard let id = context.parameters.get("list").flatMap({ Int($0) }), id > 0,
      let role = try await destinations.lists.role(of: context.user, in: id)?.role
    else { throw Failure.listNotFound }
    guard role == "owner" else { throw Failure.notListOwner }
    return id
  }
}

extension InviteStore {
  /// An invite to a list by its number, or by the UUID that older apps may have kept; nil without one.
  fileprivate func id(named name: String) async throws -> InviteID? {
    if let id = InviteID(name, prefix: .invite) { return id }
    guard let number = Int(name) else { return nil }
    return try await database.read { db in try Self.find(number: number, on: db)?.id }
  }
}
