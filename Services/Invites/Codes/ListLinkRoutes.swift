import ClientBodies
import Clients
import Foundation
import Hummingbird
import Web
import Wire

/// Links to lists, which only their owners create, list and revoke.
struct ListLinkRoutes: Sendable {
  let codeLinks: CodeLinkStore
  let joinTargetClient: JoinTargetClient
  let idempotency: Idempotency
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    let userRoutes = routes.group(context: SignedIn.self)
    userRoutes.post("/api/v1/lists/{list}/invites", use: create)
    userRoutes.get("/api/v1/lists/{list}/invites", use: list)
    userRoutes.delete("/api/v1/lists/{list}/invites", use: revokeAll)
    userRoutes.delete("/api/v1/lists/{list}/invites/{invite}", use: revoke)
  }

  @Sendable private func create(_ request: Request, _ context: SignedIn) async throws -> Response {
    var request = request
    let call = try await request.idempotentCall(by: context.user.description, context)
    let (now, user) = (now(), context.user)
    let body = try await request.jsonIfPresent(CreateListLinkBody.self)?.invite
    let options = try LinkOptions(body, roles: Invite.listRoles, at: now)
    return try await idempotency.claimed(call) {
      try await ownedList(context)
    } effect: { list, db in
      let link = try codeLinks.create(to: .list(list), options, by: user, at: now, on: db)
      guard let number = link.invite.number else { throw Failure.broken }
      return try .exactJSON(
        InviteAnswer(invite: codeLinks.body(link, id: number, at: now)), status: .created)
    }.response
  }

  @Sendable private func list(_ request: Request, _ context: SignedIn) async throws -> Response {
    let list = try await ownedList(context)
    let now = now()
    let found = try await codeLinks.links(to: .list(list)).compactMap { link in
      link.invite.number.map { codeLinks.body(link, id: $0, at: now) }
    }
    return .exactJSON(InvitesAnswer(invites: found))
  }

  @Sendable private func revokeAll(_ request: Request, _ context: SignedIn) async throws -> Response {
    let list = try await ownedList(context)
    try await codeLinks.revokeAll(to: .list(list), at: now())
    return Response(status: .noContent)
  }

  @Sendable private func revoke(_ request: Request, _ context: SignedIn) async throws -> Response {
    let list = try await ownedList(context)
    guard let id = try await codeLinks.invites.id(named: context.parameters.get("invite") ?? "") else {
      throw Failure.inviteNotFound
    }
    try await codeLinks.invites.revoke(id, to: .list(list), at: now())
    return Response(status: .noContent)
  }

  /// The list in the path, which the user must own.
  ///
  /// - Throws: 404 when there is no such list or the user is not in it, 403 for its members.
  private func ownedList(_ context: SignedIn) async throws -> Int {
    guard let id = context.parameters.get("list").flatMap({ Int($0) }), id > 0,
      let role = try await joinTargetClient.lists.membership(of: context.user, in: id)?.role
    else { throw Failure.listNotFound }
    guard role == ListRole.owner.rawValue else { throw Failure.notListOwner }
    return id
  }
}

extension InviteStore {
  /// The id of an invite by its integer id, or by the UUID that older versions of the app may have stored; nil for
  /// neither.
  fileprivate func id(named name: String) async throws -> InviteID? {
    if let id = InviteID(name, prefix: .invite) { return id }
    guard let number = Int(name) else { return nil }
    return try await database.read { db in try Self.find(number: number, on: db)?.id }
  }
}
