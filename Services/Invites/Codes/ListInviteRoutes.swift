import ClientBodies
import Clients
import Database
import Foundation
import Hummingbird
import Web
import Wire

/// Previewing, accepting and declining an invite to a list.
struct ListInviteRoutes: Sendable {
  let invites: InviteStore
  let joinCoordinator: JoinCoordinator
  let joinTargetClient: JoinTargetClient
  let lookup: ListInviteLookup
  let users: UsersClient
  let idempotency: Idempotency
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    routes.get("/api/v1/invites/{code}", use: preview)
    let userRoutes = routes.group(context: SignedIn.self)
    userRoutes.post("/api/v1/invites/{code}/accept", use: accept)
    userRoutes.post("/api/v1/invites/{code}/decline", use: decline)
  }

  @Sendable private func preview(_ request: Request, _ context: Context) async throws -> Response {
    let (code, now) = (InviteToken(code: context.parameters.get("code") ?? ""), now())
    let clientAddress = request.clientAddress
    let found = try await invites.database.write { [invites, attemptLimiter = lookup.attemptLimiter] db in
      try attemptLimiter.limited(from: clientAddress, at: now, on: db) { try invites.findListInvite(code, on: db) }
    }
    guard let code, let found, case .list(let id) = found.target, let inviter = found.inviter,
      found.storedState != .revoked, let list = try await joinTargetClient.lists.membership(of: inviter, in: id)?.list
    else { throw Failure.inviteNotFound }
    let person = try await users.names(of: [inviter])[inviter]
    return .exactJSON(InviteAnswer(invite: ListInvitePreview(found, code, list, person, at: now)))
  }

  @Sendable private func accept(_ request: Request, _ context: SignedIn) async throws -> Response {
    var request = request
    let call = try await request.idempotentCall(by: context.user.description, context)
    let (user, name) = (context.user, context.parameters.get("code") ?? "")
    let requester = Requester(user: user, clientAddress: request.clientAddress)
    return try await idempotency.claimed(call) {
      // The app cannot decode a response without the user, so nobody joins whose data is not available.
      guard let person = try await users.names(of: [user])[user] else { throw Failure.unavailable }
      let join = try await startJoin(name, requester)
      return (join, person)
    } effect: { join, db in
      try joinCoordinator.finish(join.0.claim, on: db)
      guard let joined = join.0.result.list else { throw Failure.broken }
      return try .exactJSON(try JoinedListAnswer(joined, join.1))
    }.response
  }

  private func startJoin(
    _ name: String, _ requester: Requester
  ) async throws -> (claim: JoinClaim, result: JoinResult) {
    guard let match = try await lookup.match(name, for: requester, at: now()) else { throw Failure.inviteNotFound }
    do {
      return try await joinCoordinator.start(for: requester.user, addressMatches: match.addressMatches) { _ in
        match.invite.id
      }
    } catch let refusal as JoinRefusal { throw Failure(list: refusal) }
  }

  /// Rejects a direct invite to the user.
  @Sendable private func decline(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (user, now) = (context.user, now())
    let requester = Requester(user: user, clientAddress: request.clientAddress)
    let match = try await lookup.match(context.parameters.get("code") ?? "", for: requester, at: now)
    guard let match, match.isAddressed(to: user) else { throw Failure.inviteNotFound }
    do {
      try match.invite.requireOpen(to: user, at: now, addressMatches: match.addressMatches)
    } catch { throw Failure(list: error) }
    try await invites.reject(match.invite, at: now)
    return .exactJSON(DeclinedListInviteBody())
  }
}

extension Failure {
  /// A refusal in the vocabulary of the lists app's API.
  init(list refusal: JoinRefusal) {
    self =
      switch refusal {
      case .inviteNotFound: .inviteNotFound
      case .ended, .expired, .inviterLacksPermission: .inviteUnusable
      case .rejectedByTarget(.alreadyMember): .alreadyInList
      case .alreadyOwner: .alreadyOwner
      case .targetNotFound: .listNotFound
      case .wrongUser, .rejectedByTarget(.blocked), .rejectedByTarget(.removed): .notYourInvite
      case .rejectedByTarget(.tooManyLists): .tooManyLists
      case .rejectedByTarget: .listFull
      }
  }

  static let listNotFound = Failure(.notFound, "list_not_found", "There is no such list.")
  static let notListOwner = Failure(.forbidden, "not_the_owner", "Only the owner of the list may do that.")
  static let inviteUnusable = Failure(.gone, "invite_unusable", "This invite cannot be used any more.")
  static let alreadyInList = Failure(.conflict, "already_member", "You are a member of this list already.")
  static let alreadyOwner = Failure(.unprocessable, "already_owner", "You own this list.")
  static let tooManyLists = Failure(
    .conflict, "too_many_lists", "You are in as many lists as anyone may be in.")
  static let listFull = Failure(.conflict, "list_full", "This list has no place left.")
}
