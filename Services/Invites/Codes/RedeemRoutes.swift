import ClientBodies
import Database
import Foundation
import Hummingbird
import Web
import Wire

/// Joins a group by a code from a text message or a link.
struct RedeemRoutes: Sendable {
  let invites: InviteStore
  let joinCoordinator: JoinCoordinator
  let attemptLimiter: CodeAttemptLimiter
  let idempotency: Idempotency
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    let userRoutes = routes.group(context: SignedIn.self)
    userRoutes.post("/api/invites/redeem", use: redeem)
    userRoutes.post("/api/invites/redeem/{code}", use: redeem)
  }

  /// The code is in the path, the query or the body.
  @Sendable private func redeem(_ request: Request, _ context: SignedIn) async throws -> Response {
    var request = request
    let call = try await request.idempotentCall(by: context.user.description, context)
    let code = try await Self.code(request, context)
    let requester = Requester(user: context.user, clientAddress: request.clientAddress)
    return try await idempotency.claimed(call) {
      let found = try await attemptLimiter.limited(by: requester, at: now()) { db in
        try findGroupInvite(InviteToken(code: code), db)?.id
      }
      guard let found else { throw Failure.codeNotFound }
      do {
        return try await joinCoordinator.start(for: requester.user) { _ in found }
      } catch let refusal as JoinRefusal { throw Failure(code: refusal) }
    } effect: { join, db in
      try joinCoordinator.finish(join.claim, on: db)
      guard case .group(let id) = join.claim.invite.target else { throw Failure.broken }
      return try .json(JoinedGroup(groupID: id.description, groupName: join.result.name ?? ""))
    }.response
  }

  private func findGroupInvite(_ code: InviteToken?, _ db: any Connection) throws -> Invite? {
    guard let code, let invite = try InviteStore.find(code, invites.keys, on: db),
      invite.target.kind == .group
    else { return nil }
    return invite
  }

  private static func code(_ request: Request, _ context: SignedIn) async throws -> String {
    if let code = context.parameters.get("code") { return code }
    if let code = request.uri.queryParameters["invite_code"] { return String(code) }
    guard let code = try await request.jsonIfPresent(RedeemBody.self)?.invite_code else {
      throw Failure.invalid(.init("invite_code", "is required"))
    }
    return code
  }
}

private struct RedeemBody: Decodable {
  let invite_code: String?
}

extension Failure {
  /// A refusal in the vocabulary of the groups app's API.
  init(code refusal: JoinRefusal) {
    self =
      switch refusal {
      case .rejectedByTarget(.alreadyMember): .alreadyInGroup
      case .rejectedByTarget(.full): .groupFull
      case .rejectedByTarget(.tooManyGroups): .tooManyGroups
      default: .codeNotFound
      }
  }

  /// The app shows this message to users.
  static let codeNotFound = Failure(.notFound, "invite_not_found", "Invalid or expired invite code")
  static let alreadyInGroup = Failure(.malformed, "already_a_member", "Already a member of this group")
  static let tooManyGroups = Failure(.malformed, "too_many_groups", "You are in as many groups as anyone may be in.")
}
