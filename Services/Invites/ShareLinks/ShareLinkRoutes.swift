import Clients
import Foundation
import Hummingbird
import Web
import Wire

/// Links that let one person each into a collection.
struct ShareLinkRoutes: Sendable {
  let invites: InviteStore
  let joins: Joins
  let destinations: Destinations
  let named: NamedPeople
  let users: UsersClient
  let links: AppLinks
  let idempotency: Idempotency
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    let mine = routes.group(context: SignedIn.self)
    mine.post("/collections/{collection}/invites", use: create)
    mine.get("/collections/{collection}/invites", use: list)
    mine.delete("/collections/{collection}/invites/{invite}", use: revoke)
    mine.post("/invites/{invite}/accept", use: accept)
    mine.post("/invites/{invite}/reject", use: reject)
    routes.get("/invites/resolve", use: resolve)
  }

  @Sendable private func create(_ request: Request, _ context: SignedIn) async throws -> Response {
    var request = request
    let call = try await request.idempotentCall(by: context.user.description, context)
    let body = try await request.json(NewShareLinkBody.self)
    let (role, invitee, email) = (try body.givenRole(), try body.invitee(), try body.email())
    let (now, user, asker) = (now(), context.user, Asker(user: context.user, place: request.place))
    return try await idempotency.claimed(call) {
      let collection = try await owned(context)
      if invitee != nil || email != nil { try await users.requireProven(user) }
      if let invitee { try await requireKnown(invitee, to: asker, at: now) }
      return (collection, try await users.names(of: [user])[user])
    } effect: { asked, db in
      let (collection, inviter) = asked
      try Pacing.links.admit(1, by: user, at: now, on: db)
      let new = NewInvite(
        destination: .collection(collection.collectionID), role: role.rawValue, inviter: user, invitee: invitee,
        email: email, usesMax: 1, expiresAt: now + Invite.lifetimeSeconds)
      let (invite, token) = try invites.add(new, secret: Secret.token, at: now, on: db)
      return try .exactJSON(
        DataBody(data: answer(invite, token, collection, inviter, by: user)), status: .created)
    }.response
  }

  private func answer(
    _ invite: Invite, _ token: Secret, _ collection: CollectionStanding, _ inviter: Person?, by user: UserID
  ) -> NewShareLinkAnswer {
    NewShareLinkAnswer(
      id: invite.id.prefixed(.invite), token: token.text, role: invite.role ?? "", status: "PENDING",
      expiresAt: invite.expiresAt, deepLink: links.deepLink(of: token), appStoreFallbackUrl: links.appStore,
      collection: .init(collection.collectionID, collection.collectionName), inviter: .init(user, inviter))
  }

  @Sendable private func list(_ request: Request, _ context: SignedIn) async throws -> Response {
    let collection = try await owned(context)
    let found = try await invites.links(to: .collection(collection.collectionID))
    let people = try await users.names(of: Set(found.flatMap { [$0.inviter, $0.invitee].compactMap { $0 } }))
    let now = now()
    let bodies = found.map {
      body($0, collection.collectionID, collection.collectionName, people, at: now, isOwn: true)
    }
    return .exactJSON(DataBody(data: bodies, count: bodies.count))
  }

  @Sendable private func revoke(_ request: Request, _ context: SignedIn) async throws -> Response {
    let collection = try await owned(context)
    try await invites.revoke(try context.inviteID(), to: .collection(collection.collectionID), at: now())
    return Response(status: .noContent)
  }

  /// For everybody who has the link, also before they have signed in.
  @Sendable private func resolve(_ request: Request, _ context: Context) async throws -> Response {
    let text = request.uri.queryParameters["token"].map(String.init)?.trimmingCharacters(in: .whitespacesAndNewlines)
    guard let text, !text.isEmpty else { throw Failure.invalid(.init("token", "is required")) }
    guard let token = Secret(token: text), let invite = try await invites.invite(openedBy: token),
      case .collection(let id) = invite.destination
    else { throw Failure.inviteNotFound }
    let now = now()
    switch invite.state(at: now) {
    case .expired: throw Failure.inviteExpired
    case .revoked: throw Failure.inviteRevoked
    case .pending, .accepted, .rejected: break
    }
    guard let name = try await destinations.name(of: invite) else { throw Failure.inviteNotFound }
    // Whose an address is stays untold: else anybody could ask by an invite which addresses have an account.
    let people = try await users.names(of: Set([invite.inviter, invite.invitee].compactMap { $0 }))
    return .exactJSON(DataBody(data: body(invite, id, name, people, at: now)))
  }

  @Sendable private func accept(_ request: Request, _ context: SignedIn) async throws -> Response {
    var request = request
    let call = try await request.idempotentCall(by: context.user.description, context)
    let invite = try await addressed(context)
    return try await idempotency.claimed(call) {
      do {
        return try await joins.begin(for: context.user, isAddressed: invite.isHere) { _ in invite.id }
      } catch let refusal as JoinRefusal { throw Failure(shareLink: refusal) }
    } effect: { entered, db in
      try joins.finish(entered.claim, on: db)
      let role = entered.arrival.role ?? entered.claim.invite.role ?? ""
      return try .exactJSON(DataBody(data: AcceptedBody(collectionId: invite.collection, role: role)))
    }.response
  }

  @Sendable private func reject(_ request: Request, _ context: SignedIn) async throws -> Response {
    let addressed = try await addressed(context)
    let (invite, now) = (try await invites.invite(addressed.id), now())
    do { try invite.requireOpen(to: context.user, at: now, isAddressed: addressed.isHere) } catch {
      throw Failure(shareLink: error)
    }
    try await invites.reject(invite, at: now)
    return .exactJSON(DataBody(data: RejectedBody(collectionId: addressed.collection)))
  }
}

/// What these routes ask before they do anything.
extension ShareLinkRoutes {
  /// The collection in the path, which the user owns.
  ///
  /// - Throws: 404 without one; 403 to its members and to everyone else.
  private func owned(_ context: SignedIn) async throws -> CollectionStanding {
    let id = context.parameters.get("collection").flatMap { CollectionID($0, prefix: .collection) }
    guard let id, let standing = try await destinations.groups.standing(of: context.user, in: id) else {
      throw Failure.collectionNotFound
    }
    switch standing.role {
    case .owner?: return standing
    case nil: throw Failure.notInCollection
    default: throw Failure.insufficientPermissions
    }
  }

  /// - Throws: the validation failure, for somebody whom the asker may not name as for nobody.
  private func requireKnown(_ invitee: UserID, to asker: Asker, at now: Date) async throws {
    guard case .person? = try await named.answers([.init(id: invitee)], for: asker, at: now).first else {
      throw Failure.invalid(.init("inviteeUserId", "must be a user's id"))
    }
  }

  /// The invite in the path, and whether it is for nobody's address or for the user's.
  private func addressed(_ context: SignedIn) async throws -> (id: InviteID, collection: String, isHere: Bool) {
    let invite = try await invites.invite(try context.inviteID())
    guard case .collection(let collection) = invite.destination else { throw Failure.inviteNotFound }
    let name = collection.prefixed(.collection)
    guard invite.isForAnAddress else { return (invite.id, name, true) }
    return (invite.id, name, try await addressee(of: invite) == context.user)
  }

  /// nil when nobody has shown that the address is theirs. Where no mail can be sent, nobody can show more than to have
  /// signed up with it.
  private func addressee(of invite: Invite) async throws -> UserID? {
    guard let email = try await invites.open(.email, of: invite.id) else { return nil }
    return try await users.person(named: email)?.id
  }

  private func body(
    _ invite: Invite, _ collection: CollectionID, _ name: String, _ people: [UserID: Person], at now: Date,
    isOwn: Bool = false
  ) -> ShareLinkBody {
    ShareLinkBody(invite, to: .init(collection, name), people, at: now, isOwn: isOwn)
  }
}

extension SignedIn {
  /// - Throws: 404 for what is no id: then nothing can be there.
  func inviteID() throws(Failure) -> InviteID {
    guard let id = parameters.get("invite").flatMap({ InviteID($0, prefix: .invite) }) else { throw .inviteNotFound }
    return id
  }
}
