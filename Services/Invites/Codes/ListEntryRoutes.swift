import Clients
import Database
import Foundation
import Hummingbird
import Web
import Wire

/// Looking at an invite to a list, coming in by it, and turning it down.
struct ListEntryRoutes: Sendable {
  let invites: InviteStore
  let joins: Joins
  let destinations: Destinations
  let entries: ListEntries
  let users: UsersClient
  let idempotency: Idempotency
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    routes.get("/api/v1/invites/{code}", use: preview)
    let mine = routes.group(context: SignedIn.self)
    mine.post("/api/v1/invites/{code}/accept", use: accept)
    mine.post("/api/v1/invites/{code}/decline", use: decline)
  }

  @Sendable private func preview(_ request: Request, _ context: Context) async throws -> Response {
    let (code, now, place) = (Secret(code: context.parameters.get("code") ?? ""), now(), request.place)
    let found = try await invites.database.write { [invites, tries = entries.tries] db in
      try tries.counted(from: place, at: now, on: db) { try invites.toList(code, on: db) }
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
    let (user, name) = (context.user, context.parameters.get("code") ?? "")
    let asker = Asker(user: user, place: request.place)
    return try await idempotency.claimed(call) {
      // Their app cannot read an answer without them: whoever is not known yet does not come in.
      guard let person = try await users.names(of: [user])[user] else { throw Failure.unavailable }
      let entered = try await enter(name, asker)
      return (entered, person)
    } effect: { entered, db in
      try joins.finish(entered.0.claim, on: db)
      guard let joined = entered.0.arrival.list else { throw Failure.broken }
      return try .exactJSON(try ListJoinedBody(joined, entered.1))
    }.response
  }

  private func enter(_ name: String, _ asker: Asker) async throws -> (claim: Claim, arrival: Arrival) {
    guard let entry = try await entries.entry(name, for: asker, at: now()) else { throw Failure.inviteNotFound }
    do {
      return try await joins.begin(for: asker.user, isAddressed: entry.isAddressed) { _ in entry.invite.id }
    } catch let refusal as JoinRefusal { throw Failure(list: refusal) }
  }

  /// Turns down what waits for the user.
  @Sendable private func decline(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (user, now) = (context.user, now())
    let asker = Asker(user: user, place: request.place)
    let entry = try await entries.entry(context.parameters.get("code") ?? "", for: asker, at: now)
    guard let entry, entry.isFor(user) else { throw Failure.inviteNotFound }
    do {
      try entry.invite.requireOpen(to: user, at: now, isAddressed: entry.isAddressed)
    } catch { throw Failure(list: error) }
    try await invites.reject(entry.invite, at: now)
    return .exactJSON(DeclinedBody())
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
