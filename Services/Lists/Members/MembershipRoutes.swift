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
  let users: UsersClient
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
      (try ListStore.list(id, for: user, on: db), try MembershipStore.members(of: id, on: db))
    }
    let people = try await acquaintances.people(Set(members.map(\.user)).union([list.owner]))
    let body = MembershipsBody(
      owner: people[list.owner].map(PersonBody.init) ?? .gone,
      memberships: members.compactMap { MembershipBody($0, people) })
    return try Reply.exactJSON(body).response(to: request)
  }

  /// By e-mail address or id. Strangers do not learn from the answer who has an account.
  @Sendable private func create(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (id, user, now) = (try context.id("list"), context.user, now())
    var fields = try await request.fields("membership")
    let identifier = fields.identifier("user_identifier")
    let role = fields.choice("role", Membership.roles).value.flatMap(Role.init) ?? .viewer
    try fields.finish()
    let asking = {
      try await database.write { db in
        try ListStore.list(id, for: user, on: db).role.requireEditor()
        try NamedPeople.take(by: user, at: now, on: db)
      }
      guard let identifier, let person = try await users.person(named: identifier) else { throw Failure.userNotFound }
      return person
    }
    return try await once.answer(request, context, asking: asking) { db, acquaintances, person in
      let list = try ListStore.hold(id, for: user, on: db)
      guard person.id != list.owner else {
        throw Failure.invalid(.init("user_identifier", "is the owner of this list"))
      }
      let made = try MembershipStore.add(person.id, to: id, as: role, at: now, on: db)
      guard let made else { throw Failure.alreadyMember }
      return try Self.reply(made, acquaintances, status: .created)
    }
  }

  @Sendable private func change(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (id, membership, user, now) = (try context.id("list"), try context.id("membership"), context.user, now())
    var fields = try await request.fields("membership")
    if !fields.has("role") { fields.refuse("role", "cannot be blank") }
    let role = fields.choice("role", Membership.roles).value.flatMap(Role.init)
    try fields.finish()
    return try await once.answer(request, context) { db, acquaintances in
      _ = try ListStore.hold(id, for: user, on: db)
      let member = try MembershipStore.membership(membership, in: id, on: db)
      if let role, role != member.role { try MembershipStore.change(member, to: role, at: now, on: db) }
      return try Self.reply(try MembershipStore.membership(membership, in: id, on: db), acquaintances)
    }
  }

  /// Editors let anybody go; everybody may leave.
  @Sendable private func delete(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (id, membership, user, now) = (try context.id("list"), try context.id("membership"), context.user, now())
    return try await once.answer(request, context) { db, _ in
      let list = try ListStore.hold(id, for: user, anyone: true, on: db)
      let member = try MembershipStore.membership(membership, in: id, on: db)
      if member.user != user {
        try list.role.requireEditor()
        try Removals.note(member, at: now, on: db)
      }
      try MembershipStore.remove(member, on: db)
      return .nothing
    }
  }

  private static func reply(
    _ membership: Membership, _ acquaintances: Acquaintances, status: HTTPResponse.Status = .ok
  ) throws -> Reply {
    let people = try acquaintances.known([membership.user])
    guard let body = MembershipBody(membership, people) else { throw Failure.membershipNotFound }
    return try .exactJSON(["membership": body], status: status)
  }
}

private struct MembershipsBody: Encodable {
  let owner: PersonBody
  let memberships: [MembershipBody]
}
