import Foundation
import Hummingbird
import RestQueries
import RestRoutes
import Web
import Wire

/// The endpoints of ``GroupTables``, and joining a group by its code.
struct GroupTableRoutes: Sendable {
  let schema: RestSchema
  let transaction: RestTransaction
  let codes: GroupCodeStore
  let memberships: MembershipStore
  let now: @Sendable () -> Date

  /// Seconds.
  private static let maxAge = 900

  func add(to routes: HTTPRoutes) {
    RestRoutes(schema, in: transaction, maxAge: ["social_groups": Self.maxAge], answering: answer).add(to: routes)
    routes.group(context: SignedIn.self).post("/rest/v1/social_groups/join", use: join)
  }

  @Sendable private func answer(
    _ request: RestRequest, _ user: UserID, _ transaction: RestTransaction
  ) async throws -> RestAnswer {
    let operation = try RestOperation(request, in: schema)
    if operation.table.name == "group_members", request.method == .post { try await checkCodes(in: operation, user) }
    defer { if !operation.isRead { memberships.membershipsEnded() } }
    return try await transaction.answer(operation, for: RestQueries.Caller(user, at: now()))
  }

  /// Wrong codes count although the insert is refused, so they are looked up in a transaction of their own.
  private func checkCodes(in operation: RestOperation, _ user: UserID) async throws {
    for row in operation.body?.rows ?? [] {
      guard case .string(let code)? = row["invite_code"], case .string(let id)? = row["group_id"],
        let group = GroupID(id)
      else { continue }
      let found = try await codes.attempt(by: user, at: now()) { db in
        try GroupStore.find(code: code, on: db).flatMap { $0.id == group ? $0.id : nil }
      }
      guard found != nil else { throw RestFailure.newRowDenied("group_members") }
    }
  }

  /// Safe to repeat: a member gets the row again.
  @Sendable private func join(_ request: Request, _ context: SignedIn) async throws -> Response {
    do {
      let (code, user, now) = (try await request.json(JoinBody.self).invite_code, context.user, now())
      let joined = try await codes.attempt(by: user, at: now) { [memberships] db -> GroupID? in
        guard let found = try GroupStore.find(code: code, on: db), let group = try GroupStore.lock(found.id, on: db),
          group.inviteCode == found.inviteCode
        else { return nil }
        try GroupTableWrites.requireJoined(memberships.join(user, byCodeOf: group, at: now, on: db))
        return group.id
      }
      memberships.changes?.wakeUp()
      guard let joined else { throw Failure.groupNotFound }
      return Response(try await row(of: joined, for: user))
    } catch let failure as RestFailure {
      return failure.response()
    }
  }

  private func row(of group: GroupID, for user: UserID) async throws -> RestAnswer {
    let request = RestRequest(
      .get, "social_groups", query: "id=eq.\(group)", accept: "application/vnd.pgrst.object+json")
    return try await schema.answer(request, for: RestQueries.Caller(user, at: now()), in: transaction.database)
  }
}

private struct JoinBody: Decodable {
  let invite_code: String
}
