import ClientBodies
import Foundation
import Hummingbird
import Web
import Wire

/// Links to groups, for a limited or unlimited number of uses. Their codes are redeemed by ``RedeemRoutes``, like those
/// in text messages.
struct GroupLinkRoutes: Sendable {
  let codeLinks: CodeLinkStore
  let joinTargetClient: JoinTargetClient
  let idempotency: Idempotency
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    let userRoutes = routes.group(context: SignedIn.self)
    userRoutes.post("/api/groups/{group}/invites", use: create)
    userRoutes.get("/api/groups/{group}/invites", use: list)
    userRoutes.delete("/api/groups/{group}/invites/{invite}", use: revoke)
  }

  @Sendable private func create(_ request: Request, _ context: SignedIn) async throws -> Response {
    var request = request
    let call = try await request.idempotentCall(by: context.user.description, context)
    let (now, user) = (now(), context.user)
    let options = try LinkOptions(try await request.jsonIfPresent(LinkOptions.Body.self), roles: [], at: now)
    return try await idempotency.claimed(call) {
      try await membership(context).groupID
    } effect: { group, db in
      let link = try codeLinks.create(to: .group(group), options, by: user, at: now, on: db)
      return try .json(body(link, at: now), status: .created)
    }.response
  }

  @Sendable private func list(_ request: Request, _ context: SignedIn) async throws -> Response {
    let group = try await membership(context).groupID
    let now = now()
    let found = try await codeLinks.links(to: .group(group)).map { body($0, at: now) }
    return .json(InvitesAnswer(invites: found))
  }

  /// For the user who created the link and for the group's owner.
  @Sendable private func revoke(_ request: Request, _ context: SignedIn) async throws -> Response {
    let group = try await membership(context)
    let invite = try await codeLinks.invites.invite(try context.inviteID())
    guard invite.inviter == context.user || group.role == .owner else { throw Failure.notYourLink }
    try await codeLinks.invites.revoke(invite.id, to: .group(group.groupID), at: now())
    return Response(status: .noContent)
  }

  private func body(_ link: CodeLink, at now: Date) -> ClientBodies.CodeLink<String> {
    codeLinks.body(link, id: link.invite.id.description, at: now)
  }

  /// The user's membership of the group in the path.
  ///
  /// - Throws: 403 for everyone but active members, also when there is no such group.
  private func membership(_ context: SignedIn) async throws -> GroupMembership {
    let id = context.parameters.get("group").flatMap { GroupID($0) }
    return try await joinTargetClient.activeMembership(of: context.user, in: id)
  }
}

extension Failure {
  static let notYourLink = Failure(
    .forbidden, "not_your_link", "Only who made the link and the owner of the group may take it back.")
}
