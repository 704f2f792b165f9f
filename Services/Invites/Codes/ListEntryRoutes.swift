import Clients
import Database
import Foundation
import Hummingbird
import Web
import Wire

/// Looking at a link to a list, and coming in by it.
struct ListEntryRoutes: Sendable {
  let invites: InviteStore
  let joins: Joins
  let destinations: Destinations
  let tries: CodeTries
  let users: UsersClient
  let idempotency: Idempotency
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    routes.get("/api/v1/invites/{code}", use: preview)
    routes.group(context: SignedIn.self).post("/api/v1/invites/{code}/accept", use: accept)
  }

  @Sendable private func preview(_ request: Request, _ context: Context) async throws -> Response {
    let (code, now, place) = (Secret(code: context.parameters.get("code") ?? ""), now(), request.place)
    let found = try await invites.database.write { [invites, tries] db in
      try tries.counted(by: .place(place), at: now, on: db) { try invites.toList(code, on: db) }
    }
    guard let code, let found, case .list(let id) = found.destination, let inviter = found.inviter,
      found.kept != .revoked, let list = try await destinations.lists.role(of: inviter, in: id)?.list
    else { throw Failure.inviteNotFound }
    let person = try await users.names(of: [inviter])[inviter]
    return .exactJSON(ListPreviewBody(found, code, list, person, at: now))
  }

  @Sendable private func accept(_ request: Request, _ context: SignedIn) async throws -> Response {
    var request = request
    let call = try await request.idempotentCall(by: context.user.description, context)
    let (user, code) = (context.user, Secret(code: context.parameters.get("code") ?? ""))
    return try await idempotency.claimed(call) {
      let entered = try await enter(user, by: code)
      return (entered, try await users.names(of: [user])[user])
    } effect: { entered, db in
      try joins.finish(entered.0.claim, on: db)
      guard let joined = entered.0.arrival.list else { throw Failure.broken }
      return try .exactJSON(ListJoinedBody(joined, entered.1))
    }.response
  }

  private func enter(_ user: UserID, by code: Secret?) async throws -> (claim: Claim, arrival: Arrival) {
    do {
      return try await joins.begin(for: user) { [invites, tries, now] db in
        try tries.counted(by: .user(user), at: now(), on: db) { try invites.toList(code, on: db)?.id }
      }
    } catch let refusal as JoinRefusal { throw Failure(list: refusal) }
  }
}

extension InviteStore {
  fileprivate func toList(_ code: Secret?, on db: any Connection) throws -> Invite? {
    guard let code, let invite = try Self.find(code, keys, on: db), invite.destination.kind == .list else { return nil }
    return invite
  }
}

extension Failure {
  /// A refusal in the words of the app with lists.
  init(list refusal: JoinRefusal) {
    self =
      switch refusal {
      case .unknown: .inviteNotFound
      case .over, .expired, .lapsed: .inviteUnusable
      case .notLetIn(.alreadyMember): .alreadyInList
      case .ownsIt: .alreadyOwner
      case .gone: .listNotFound
      case .forSomebodyElse, .notLetIn(.blocked), .notLetIn(.removed): .notYourInvite
      case .notLetIn(.tooManyLists): .tooManyLists
      case .notLetIn: .listFull
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
