import Clients
import Database
import Foundation
import Hummingbird
import Web
import Wire

/// Who is in a list, and as what.
struct MembershipRoutes: Sendable {
  let database: any Database
  let acquaintances: Acquaintances
  let letIn: LettingIn
  let once: Once
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    let mine = routes.forUsers()
    mine.get("/api/v1/lists/{list}/memberships", use: index)
    mine.post("/api/v1/lists/{list}/memberships", use: create)
    mine.patch("/api/v1/lists/{list}/memberships/{membership}", use: change)
    mine.put("/api/v1/lists/{list}/memberships/{membership}", use: change)
    mine.delete("/api/v1/lists/{list}/memberships/{membership}", use: delete)
  }

  @Sendable private func index(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (id, user) = (try context.id("list"), context.user)
    let (list, members) = try await database.read { db in
      let list = try ListStore.list(id, for: user, on: db)
      return (list, try db.rows(MembershipStore.query(of: id)).map { try Membership($0, shownTo: user) })
    }
    let people = try await acquaintances.people(Set(members.map(\.user)).union([list.owner]), showing: [user])
    let body = MembershipsBody(
      owner: people[list.owner].map(PersonBody.init) ?? .gone,
      memberships: members.compactMap { MembershipBody($0, people) })
    return try Reply.exactJSON(body).response(to: request)
  }

  /// By e-mail address or id. Who cannot be let in directly gets an invite, and the answer is 202.
  @Sendable private func create(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (id, user, now) = (try context.id("list"), context.user, now())
    var fields = try await request.fields("membership")
    let identifier = fields.identifier("user_identifier")
    let role = fields.choice("role", Membership.roles).value.flatMap(Role.init) ?? .viewer
    try fields.finish()
    let name = PersonName(identifier ?? "")
    let steps = { try await letIn.way(for: name, to: id, as: role, by: user, at: now) }
    for _ in 0..<Self.triesMax {
      do {
        return try await once.answer(request, context, steps: steps) { db, acquaintances, way in
          switch way {
          case .invited(let invitation):
            return try .exactJSON(InvitedBody(invitation, to: name), status: .accepted)
          case .directly(let person, let naming):
            let made = try LettingIn.add(person.id, to: id, as: role, by: user, naming: naming, at: now, on: db)
            return try Self.reply(made, acquaintances, to: user, status: .created)
          }
        }
      } catch is HasGone {}
    }
    throw Failure.unavailable
  }

  /// How often somebody may leave while they are being let in.
  private static let triesMax = 3

  @Sendable private func change(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (id, membership, user, now) = (try context.id("list"), try context.id("membership"), context.user, now())
    var fields = try await request.fields("membership")
    if !fields.has("role") { fields.refuse("role", "cannot be blank") }
    let role = fields.choice("role", Membership.roles).value.flatMap(Role.init)
    try fields.finish()
    return try await once.answer(request, context) { db, acquaintances in
      _ = try ListStore.hold(id, for: user, on: db)
      let member = try MembershipStore.membership(membership, in: id, shownTo: user, on: db)
      if let role, role != member.role { try MembershipStore.change(member, to: role, at: now, on: db) }
      let changed = try MembershipStore.membership(membership, in: id, shownTo: user, on: db)
      return try Self.reply(changed, acquaintances, to: user)
    }
  }

  /// Editors let anybody go; everybody may leave.
  @Sendable private func delete(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (id, membership, user, now) = (try context.id("list"), try context.id("membership"), context.user, now())
    return try await once.answer(request, context) { db, _ in
      let list = try ListStore.hold(id, for: user, anyone: true, on: db)
      let member = try MembershipStore.membership(membership, in: id, shownTo: user, on: db)
      if member.user != user { try list.role.requireEditor() }
      try Removals.note(member, by: user, at: now, on: db)
      try MembershipStore.remove(member, on: db)
      return .nothing
    }
  }

  private static func reply(
    _ membership: Membership, _ acquaintances: Acquaintances, to user: UserID, status: HTTPResponse.Status = .ok
  ) throws -> Reply {
    let people = try acquaintances.known([membership.user], showing: [user])
    guard let body = MembershipBody(membership, people) else { throw Failure.membershipNotFound }
    return try .exactJSON(["membership": body], status: status)
  }
}

private struct MembershipsBody: Encodable {
  let owner: PersonBody
  let memberships: [MembershipBody]
}

/// An invite that waits for whoever was named, as the apps see any invite to a list.
private struct InvitedBody: Encodable {
  let invite: Invite
  /// For apps that expect one: of nobody, as nobody's id is 0.
  let membership: Membership
  let message = "They were sent an invite, which they can accept."

  struct Invite: Encodable {
    let id: Int
    let code: String
    let invite_url: String
    let role: String
    let uses_count = 0
    let usable = true
    let max_uses = 1
    let expires_at: Date
    let created_at: Date
  }

  struct Membership: Encodable {
    let id = 0
    let user: PersonBody
    let role: String
    let created_at: Date
    let updated_at: Date
  }

  init(_ invitation: ListInvitation, to name: PersonName) {
    let email = if case .email(let address) = name { address } else { "" }
    membership = Membership(
      user: .invited(email), role: invitation.role, created_at: invitation.createdAt,
      updated_at: invitation.createdAt)
    invite = Invite(
      id: invitation.number, code: invitation.code, invite_url: invitation.url, role: invitation.role,
      expires_at: invitation.expiresAt, created_at: invitation.createdAt)
  }
}
