import ClientBodies
import Clients
import Database
import Foundation
import Hummingbird
import Web
import Wire

/// The routes for the members of a list and their roles.
struct MembershipRoutes: Sendable {
  let database: any Database
  let peopleCache: PeopleCache
  let memberAddition: MemberAddition
  let idempotentChange: IdempotentChange
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    let userRoutes = routes.forUsers()
    userRoutes.get("/api/v1/lists/{list}/memberships", use: index)
    userRoutes.post("/api/v1/lists/{list}/memberships", use: create)
    userRoutes.patch("/api/v1/lists/{list}/memberships/{membership}", use: change)
    userRoutes.put("/api/v1/lists/{list}/memberships/{membership}", use: change)
    userRoutes.delete("/api/v1/lists/{list}/memberships/{membership}", use: delete)
  }

  @Sendable private func index(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (id, user) = (try context.id("list"), context.user)
    let (list, members) = try await database.read { db in
      let list = try ListStore.list(id, for: user, on: db)
      return (list, try db.rows(MembershipStore.query(of: id)).map { try Membership($0, shownTo: user) })
    }
    let people = try await peopleCache.people(Set(members.map(\.user)).union([list.owner]), withAddressesOf: [user])
    let body = MembershipsAnswer(
      owner: people[list.owner].map(SharedList.Person.init) ?? .deletedAccount,
      memberships: members.compactMap { ClientBodies.ListMembership($0, people) })
    return try Reply.exactJSON(body).response(to: request)
  }

  /// Adds a user by e-mail address or ID. When the user cannot be added directly, an invite is created, and the status
  /// is 202.
  @Sendable private func create(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (id, user, now) = (try context.id("list"), context.user, now())
    var fields = try await request.fields("membership")
    let identifier = fields.identifier("user_identifier")
    let role = fields.choice("role", Membership.roles).value.flatMap(ListRole.init) ?? .viewer
    try fields.validate()
    let person = PersonIdentifier(identifier ?? "")
    let resolve = { try await memberAddition.resolve(person, to: id, as: role, by: user, at: now) }
    for _ in 0..<Self.attemptsMax {
      do {
        return try await idempotentChange.response(to: request, context, preparation: resolve) {
          db, peopleCache, resolution in
          switch resolution {
          case .invited(let invitation):
            return try .exactJSON(InvitedBody(invitation, to: person), status: .accepted)
          case .add(let person, let enteredEmail):
            let membership = try MemberAddition.add(
              person.id, to: id, as: role, by: user, enteredEmail: enteredEmail, at: now, on: db)
            return try Self.reply(membership, peopleCache, to: user, status: .created)
          }
        }
      } catch is ConcurrentDeparture {}
    }
    throw Failure.unavailable
  }

  /// How often the user may leave while they are being added.
  private static let attemptsMax = 3

  @Sendable private func change(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (id, membership, user, now) = (try context.id("list"), try context.id("membership"), context.user, now())
    var fields = try await request.fields("membership")
    if !fields.has("role") { fields.addError("role", "cannot be blank") }
    let role = fields.choice("role", Membership.roles).value.flatMap(ListRole.init)
    try fields.validate()
    return try await idempotentChange.response(to: request, context) { db, peopleCache in
      try ListStore.lock(id, for: user, on: db)
      let member = try MembershipStore.membership(membership, in: id, shownTo: user, on: db)
      if let role, role != member.role { try MembershipStore.change(member, to: role, at: now, on: db) }
      let changed = try MembershipStore.membership(membership, in: id, shownTo: user, on: db)
      return try Self.reply(changed, peopleCache, to: user)
    }
  }

  /// Editors may remove any member; every member may leave.
  @Sendable private func delete(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (id, membership, user, now) = (try context.id("list"), try context.id("membership"), context.user, now())
    return try await idempotentChange.response(to: request, context) { db, _ in
      let list = try ListStore.lock(id, for: user, allowingViewers: true, on: db)
      let member = try MembershipStore.membership(membership, in: id, shownTo: user, on: db)
      if member.user != user { try list.role.requireEditor() }
      try DepartureStore.record(member, by: user, at: now, on: db)
      try MembershipStore.remove(member, by: user, at: now, on: db)
      return .noContent
    }
  }

  private static func reply(
    _ membership: Membership, _ peopleCache: PeopleCache, to user: UserID, status: HTTPResponse.Status = .ok
  ) throws -> Reply {
    let people = try peopleCache.cached([membership.user], withAddressesOf: [user])
    guard let shown = ClientBodies.ListMembership(membership, people) else { throw Failure.membershipNotFound }
    return try .exactJSON(MembershipAnswer(membership: shown), status: status)
  }
}

/// The JSON of an invite that was created instead of a membership, with the same fields as any invite to a list.
private struct InvitedBody: Encodable {
  let invite: Invite
  /// A placeholder with ID 0, which no membership and no user has, for apps that expect a membership.
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
    let user: SharedList.Person
    let role: String
    let created_at: Date
    let updated_at: Date
  }

  init(_ invitation: ListInvitation, to invitee: PersonIdentifier) {
    let email = if case .email(let address) = invitee { address } else { "" }
    membership = Membership(
      user: .invited(email), role: invitation.role, created_at: invitation.createdAt,
      updated_at: invitation.createdAt)
    invite = Invite(
      id: invitation.number, code: invitation.code, invite_url: invitation.url, role: invitation.role,
      expires_at: invitation.expiresAt, created_at: invitation.createdAt)
  }
}
