import Database
import Foundation
import Hummingbird
import Web
import Wire

/// Coming into a group by a code that somebody was texted, or told.
struct RedeemRoutes: Sendable {
  let invites: InviteStore
  let joins: Joins
  let tries: CodeTries
  let idempotency: Idempotency
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    let mine = routes.group(context: SignedIn.self)
    mine.post("/api/invites/redeem", use: redeem)
    mine.post("/api/invites/redeem/{code}", use: redeem)
  }

  /// The code stands in the path, the query or the body.
  @Sendable private func redeem(_ request: Request, _ context: SignedIn) async throws -> Response {
    var request = request
    let call = try await request.idempotentCall(by: context.user.description, context)
    let typed = try await Self.code(request, context)
    let asker = Asker(user: context.user, place: request.place)
    return try await idempotency.claimed(call) {
      let found = try await tries.counted(by: asker, at: now()) { db in try group(Secret(code: typed), db)?.id }
      guard let found else { throw Failure.codeNotFound }
      do { return try await joins.begin(for: asker.user) { _ in found } } catch let refusal as JoinRefusal {
        throw Failure(code: refusal)
      }
    } effect: { entered, db in
      try joins.finish(entered.claim, on: db)
      guard case .group(let id) = entered.claim.invite.destination else { throw Failure.broken }
      return try .json(RedeemedBody(group_id: id, group_name: entered.arrival.name ?? ""))
    }.response
  }

  private func group(_ code: Secret?, _ db: any Connection) throws -> Invite? {
    guard let code, let invite = try InviteStore.find(code, invites.keys, on: db),
      invite.destination.kind == .group
    else { return nil }
    return invite
  }

  private static func code(_ request: Request, _ context: SignedIn) async throws -> String {
    if let code = context.parameters.get("code") { return code }
    if let code = request.uri.queryParameters["invite_code"] { return String(code) }
    guard let code = try await request.jsonIfAny(RedeemBody.self)?.invite_code else {
      throw Failure.invalid(.init("invite_code", "is required"))
    }
    return code
  }
}

private struct RedeemBody: Decodable {
  let invite_code: String?
}

private struct RedeemedBody: Encodable {
  let group_id: GroupID
  let group_name: String
}

extension Failure {
  /// A refusal in the words of the app with groups.
  init(code refusal: JoinRefusal) {
    self =
      switch refusal {
      case .notLetIn(.alreadyMember): .alreadyInGroup
      case .notLetIn(.full): .groupFull
      case .notLetIn(.tooManyGroups): .tooManyGroups
      default: .codeNotFound
      }
  }

  /// The app shows these words.
  static let codeNotFound = Failure(.notFound, "invite_not_found", "Invalid or expired invite code")
  static let alreadyInGroup = Failure(.malformed, "already_a_member", "Already a member of this group")
  static let tooManyGroups = Failure(.malformed, "too_many_groups", "You are in as many groups as anyone may be in.")
}
