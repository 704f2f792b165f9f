import ClientBodies
import Foundation
import Hummingbird
import Web
import Wire

/// The endpoints by which members list, create, and change groups.
struct GroupRoutes: Sendable {
  let groups: GroupStore
  let contacts: ContactLookup
  let textInvites: TextInviteOutbox
  let idempotency: Idempotency
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    let userRoutes = routes.group(context: SignedIn.self)
    userRoutes.get("/api/groups", use: list)
    userRoutes.post("/api/groups", use: create)
    userRoutes.get("/api/groups/{group}", use: show)
    userRoutes.put("/api/groups/{group}", use: change)
    userRoutes.get("/api/groups/{group}/daily-status", use: dailyStatus)
    userRoutes.post("/api/groups/{group}/mark-sent", use: markSent)
  }

  @Sendable private func list(_ request: Request, _ context: SignedIn) async throws -> Response {
    let summaries = try await groups.summaries(of: context.user, at: now())
    let names = try await contacts.firstNames(in: summaries)
    return .json(summaries.map { SharedGroup($0, names: names) })
  }

  @Sendable private func show(_ request: Request, _ context: SignedIn) async throws -> Response {
    let summary = try await groups.summary(of: context.groupID(), for: context.user, at: now())
    return .json(SharedGroup(summary, names: try await contacts.firstNames(in: [summary])))
  }

  /// Users who have one of the phone numbers become members at once. The other numbers are invited by text message.
  @Sendable private func create(_ request: Request, _ context: SignedIn) async throws -> Response {
    var request = request
    let call = try await request.idempotentCall(by: context.user.description, context)
    let body = try await request.json(NewGroupBody.self)
    let (now, clientAddress) = (now(), request.clientAddress)
    let draft = try body.group(of: context.user, at: now)
    let numbers = body.member_phone_numbers ?? []
    try E164.require(numbers, field: "member_phone_numbers", countMax: ContactLookup.numbersPerDay)
    let reply = try await idempotency.once(call) {
      try await contacts.matches(of: Set(numbers), for: draft.owner, from: clientAddress, at: now)
    } effect: { matches, db in
      let group = try GroupStore.create(draft, on: db)
      let added = try MembershipStore.add(matches.users, to: group, by: draft.owner, at: now, on: db)
      let seats = group.memberCountMax - group.memberCount - added.count
      try textInvites.add(
        matches.unmatchedNumbers, to: group.id, by: draft.owner, from: clientAddress, seats: seats, at: now, on: db)
      return try .json(CreatedGroupAnswer(id: group.id.description, name: group.name))
    }
    textInvites.wakeUp()
    return reply.response
  }

  /// Reads the name from the query, where the apps send it, or else from the body, like the other fields.
  @Sendable private func change(_ request: Request, _ context: SignedIn) async throws -> Response {
    let body = try await request.jsonIfPresent(GroupChangeBody.self)
    let name = request.uri.queryParameters["name"].map(String.init) ?? body?.name
    let change = GroupChange(
      name: try name.map(GroupFields.name), description: try body?.description.map(GroupFields.description),
      timeZone: try body?.time_zone.map(GroupFields.timeZone))
    guard change.hasChanges else { throw Failure.invalid(.init("name", "is required")) }
    try await groups.change(context.groupID(), change, by: context.user, at: now())
    return .json(SuccessBody(success: true))
  }

  @Sendable private func dailyStatus(_ request: Request, _ context: SignedIn) async throws -> Response {
    let id = try context.groupID(else: .notInGroup)
    return .json(DailyStatusAnswer(hasSentToday: try await groups.hasSentToday(context.user, to: id, at: now())))
  }

  /// Stores nothing: whether the caller has sent today follows from the stored photo.
  @Sendable private func markSent(_ request: Request, _ context: SignedIn) async throws -> Response {
    let id = try context.groupID(else: .notInGroup)
    return .json(MarkSentBody(hasSentToday: try await groups.hasSentToday(context.user, to: id, at: now())))
  }
}
