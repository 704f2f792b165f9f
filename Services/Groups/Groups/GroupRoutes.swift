import Foundation
import Hummingbird
import Web
import Wire

/// Groups as their members see, make and change them.
struct GroupRoutes: Sendable {
  let groups: GroupStore
  let acquaintances: Acquaintances
  let texts: GroupTexts
  let idempotency: Idempotency
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    let mine = routes.group(context: SignedIn.self)
    mine.get("/api/groups", use: list)
    mine.post("/api/groups", use: create)
    mine.get("/api/groups/{group}", use: show)
    mine.put("/api/groups/{group}", use: change)
    mine.get("/api/groups/{group}/daily-status", use: dailyStatus)
    mine.post("/api/groups/{group}/mark-sent", use: markSent)
  }

  @Sendable private func list(_ request: Request, _ context: SignedIn) async throws -> Response {
    let sights = try await groups.sights(of: context.user, at: now())
    let names = try await acquaintances.firstNames(in: sights)
    return .json(sights.map { GroupBody($0, names: names) })
  }

  @Sendable private func show(_ request: Request, _ context: SignedIn) async throws -> Response {
    let sight = try await groups.sight(of: context.groupID(), by: context.user, at: now())
    return .json(GroupBody(sight, names: try await acquaintances.firstNames(in: [sight])))
  }

  /// Whoever is known by one of the numbers is in it from the start; the others are invited by text.
  @Sendable private func create(_ request: Request, _ context: SignedIn) async throws -> Response {
    var request = request
    let call = try await request.idempotentCall(by: context.user.description, context)
    let body = try await request.json(NewGroupBody.self)
    let (now, place) = (now(), request.place)
    let draft = try body.group(of: context.user, at: now)
    let numbers = try PhoneNumber.required(
      body.member_phone_numbers ?? [], field: "member_phone_numbers", countMax: Acquaintances.numbersPerDay)
    let reply = try await idempotency.once(call) {
      try await acquaintances.named(by: numbers, for: draft.owner, at: place, now)
    } effect: { named, db in
      let group = try GroupStore.create(draft, on: db)
      let added = try MembershipStore.add(named.users, to: group, by: draft.owner, at: now, on: db)
      let seats = group.memberCountMax - group.memberCount - added.count
      try texts.add(
        named.numbersOfNobody, to: group.id, by: draft.owner, from: place, seats: seats, at: now, on: db)
      return try .json(CreatedGroupBody(id: group.id, name: group.name))
    }
    texts.ring()
    return reply.response
  }

  /// The name in the query, where the apps put it, or in a body with whatever else is to change.
  @Sendable private func change(_ request: Request, _ context: SignedIn) async throws -> Response {
    let body = try await request.jsonIfAny(GroupChangeBody.self)
    let name = request.uri.queryParameters["name"].map(String.init) ?? body?.name
    let change = GroupChange(
      name: try name.map(GroupWords.name), description: try body?.description.map(GroupWords.description),
      timeZone: try body?.time_zone.map(GroupWords.timeZone))
    guard change.hasAny else { throw Failure.invalid(.init("name", "is required")) }
    try await groups.change(context.groupID(), change, by: context.user, at: now())
    return .json(SuccessBody(success: true))
  }

  @Sendable private func dailyStatus(_ request: Request, _ context: SignedIn) async throws -> Response {
    let id = try context.groupID(else: .notInGroup)
    return .json(DailyStatusBody(has_sent_today: try await groups.hasSentToday(context.user, to: id, at: now())))
  }

  /// The photo itself is the mark: there is nothing to note, only to confirm.
  @Sendable private func markSent(_ request: Request, _ context: SignedIn) async throws -> Response {
    let id = try context.groupID(else: .notInGroup)
    return .json(MarkedBody(hasSentToday: try await groups.hasSentToday(context.user, to: id, at: now())))
  }
}
