import Foundation
import Hummingbird
import Web
import Wire

/// Links to groups, for as many people as they say. Their codes are redeemed as texted ones are.
struct GroupLinkRoutes: Sendable {
  let codes: CodeLinks
  let destinations: Destinations
  let idempotency: Idempotency
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    let mine = routes.group(context: SignedIn.self)
    mine.post("/api/groups/{group}/invites", use: create)
    mine.get("/api/groups/{group}/invites", use: list)
    mine.delete("/api/groups/{group}/invites/{invite}", use: revoke)
  }

  @Sendable private func create(_ request: Request, _ context: SignedIn) async throws -> Response {
    var request = request
    let call = try await request.idempotentCall(by: context.user.description, context)
    let (now, user) = (now(), context.user)
    let terms = try LinkTerms(try await request.jsonIfAny(LinkTerms.Body.self), roles: [], at: now)
    return try await idempotency.claimed(call) {
      try await standing(context).groupID
    } effect: { group, db in
      let made = try codes.make(to: .group(group), terms, by: user, at: now, on: db)
      return try .json(codes.body(made, at: now), status: .created)
    }.response
  }

  @Sendable private func list(_ request: Request, _ context: SignedIn) async throws -> Response {
    let group = try await standing(context).groupID
    let now = now()
    let found = try await codes.links(to: .group(group)).map { codes.body($0, at: now) }
    return .json(CodeLinksBody(invites: found))
  }

  /// Whoever made it may take it back, and the group's owner.
  @Sendable private func revoke(_ request: Request, _ context: SignedIn) async throws -> Response {
    let group = try await standing(context)
    let invite = try await codes.invites.invite(try context.inviteID())
    guard invite.inviter == context.user || group.role == .owner else { throw Failure.notYourLink }
    try await codes.invites.revoke(invite.id, to: .group(group.groupID), at: now())
    return Response(status: .noContent)
  }

  /// - Throws: 403 for everyone but active members, also when there is no such group.
  private func standing(_ context: SignedIn) async throws -> GroupStanding {
    let id = context.parameters.get("group").flatMap { GroupID($0) }
    guard let id, let standing = try await destinations.groups.standing(of: context.user, in: id), standing.isActive
    else { throw Failure.notInGroup }
    return standing
  }
}

struct CodeLinksBody: Encodable {
  let invites: [CodeLinkBody]
}

extension Failure {
  static let notYourLink = Failure(
    .forbidden, "not_your_link", "Only who made the link and the owner of the group may take it back.")
}
