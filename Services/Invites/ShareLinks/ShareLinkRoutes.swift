import ClientBodies
import Clients
import Foundation
import Hummingbird
import Web
import Wire

/// Links to collections, each for one user.
struct ShareLinkRoutes: Sendable {
  let invites: InviteStore
  let joinCoordinator: JoinCoordinator
  let joinTargetClient: JoinTargetClient
  let contactVisibility: ContactVisibility
  let users: UsersClient
  let links: AppLinks
  let idempotency: Idempotency
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    let userRoutes = routes.group(context: SignedIn.self)
    userRoutes.post("/collections/{collection}/invites", use: create)
    userRoutes.get("/collections/{collection}/invites", use: list)
    userRoutes.delete("/collections/{collection}/invites/{invite}", use: revoke)
    userRoutes.post("/invites/{invite}/accept", use: accept)
    userRoutes.post("/invites/{invite}/reject", use: reject)
    routes.get("/invites/resolve", use: resolve)
  }

  @Sendable private func create(_ request: Request, _ context: SignedIn) async throws -> Response {
    var request = request
    let call = try await request.idempotentCall(by: context.user.description, context)
    let body = try await request.json(CreateShareLinkBody.self)
    let (role, invitee, email) = (try body.givenRole(), try body.invitee(), try body.email())
    let (now, user) = (now(), context.user)
    let requester = Requester(user: user, clientAddress: request.clientAddress)
    return try await idempotency.claimed(call) {
      let collection = try await ownedCollection(context)
      if invitee != nil || email != nil { try await users.requireProven(user) }
      if let invitee { try await requireVisible(invitee, to: requester, at: now) }
      return (collection, try await users.names(of: [user])[user])
    } effect: { prepared, db in
      let (collection, inviter) = prepared
      try InviteRateQuota.links.enforce(1, by: user, at: now, on: db)
      let new = NewInvite(
        target: .collection(collection.collectionID), role: role.rawValue, inviter: user, invitee: invitee,
        email: email, usesMax: 1, expiresAt: now + Invite.lifetimeSeconds)
      let (invite, token) = try invites.add(new, token: InviteToken.linkToken, at: now, on: db)
      return try .exactJSON(
        DataAnswer(data: createdBody(invite, token, collection, inviter, by: user)), status: .created)
    }.response
  }

  private func createdBody(
    _ invite: Invite, _ token: InviteToken, _ collection: CollectionMembership, _ inviter: Person?, by user: UserID
  ) -> CreatedShareLink {
    CreatedShareLink(
      ShareLink(
        id: invite.id.prefixed(.invite), token: token.text, role: invite.role ?? "", status: "PENDING",
        expiresAt: invite.expiresAt, deepLink: links.deepLink(of: token), appStoreFallbackURL: links.appStore,
        collectionID: collection.collectionID.prefixed(.collection), collectionName: collection.collectionName,
        inviter: .init(user, inviter),
        invitee: nil))
  }

  @Sendable private func list(_ request: Request, _ context: SignedIn) async throws -> Response {
    let collection = try await ownedCollection(context)
    let found = try await invites.links(to: .collection(collection.collectionID))
    let people = try await users.names(of: Set(found.flatMap { [$0.inviter, $0.invitee].compactMap { $0 } }))
    let now = now()
    let bodies = found.map {
      ShareLink(
        $0, to: collection.collectionID, named: collection.collectionName, people, at: now, isOwn: true)
    }
    return .exactJSON(DataAnswer(data: bodies, count: bodies.count))
  }

  @Sendable private func revoke(_ request: Request, _ context: SignedIn) async throws -> Response {
    let collection = try await ownedCollection(context)
    try await invites.revoke(try context.inviteID(), to: .collection(collection.collectionID), at: now())
    return Response(status: .noContent)
  }

  /// For everybody who has the link, also without signing in.
  @Sendable private func resolve(_ request: Request, _ context: Context) async throws -> Response {
    let text = request.uri.queryParameters["token"].map(String.init)?.trimmingCharacters(in: .whitespacesAndNewlines)
    guard let text, !text.isEmpty else { throw Failure.invalid(.init("token", "is required")) }
    guard let token = InviteToken(token: text), let invite = try await invites.invite(for: token),
      case .collection(let id) = invite.target
    else { throw Failure.inviteNotFound }
    let now = now()
    switch invite.state(at: now) {
    case .expired: throw Failure.inviteExpired
    case .revoked: throw Failure.inviteRevoked
    case .pending, .accepted, .rejected: break
    }
    guard let name = try await joinTargetClient.name(of: invite) else { throw Failure.inviteNotFound }
    // The user of an e-mail address is not shown: else an invite would reveal which addresses have an account.
    let people = try await users.names(of: Set([invite.inviter, invite.invitee].compactMap { $0 }))
    return .exactJSON(
      DataAnswer(data: ShareLink(invite, to: id, named: name, people, at: now, isOwn: false)))
  }

  @Sendable private func accept(_ request: Request, _ context: SignedIn) async throws -> Response {
    var request = request
    let call = try await request.idempotentCall(by: context.user.description, context)
    let invite = try await inviteInPath(context)
    return try await idempotency.claimed(call) {
      do {
        return try await joinCoordinator.start(for: context.user, addressMatches: invite.addressMatches) { _ in
          invite.id
        }
      } catch let refusal as JoinRefusal { throw Failure(shareLink: refusal) }
    } effect: { join, db in
      try joinCoordinator.finish(join.claim, on: db)
      let role = join.result.role ?? join.claim.invite.role ?? ""
      return try .exactJSON(
        DataAnswer(data: ShareLinkAnswer.accepted(invite.collection, role: role)))
    }.response
  }

  @Sendable private func reject(_ request: Request, _ context: SignedIn) async throws -> Response {
    let path = try await inviteInPath(context)
    let (invite, now) = (try await invites.invite(path.id), now())
    do { try invite.requireOpen(to: context.user, at: now, addressMatches: path.addressMatches) } catch {
      throw Failure(shareLink: error)
    }
    try await invites.reject(invite, at: now)
    return .exactJSON(DataAnswer(data: ShareLinkAnswer.rejected(path.collection)))
  }
}

/// Checks before anything is written.
extension ShareLinkRoutes {
  /// The collection in the path, which the user must own.
  ///
  /// - Throws: 404 when there is no such collection; 403 for members and for everybody else.
  private func ownedCollection(_ context: SignedIn) async throws -> CollectionMembership {
    let id = context.parameters.get("collection").flatMap { CollectionID($0, prefix: .collection) }
    guard let id, let membership = try await joinTargetClient.groups.membership(of: context.user, in: id) else {
      throw Failure.collectionNotFound
    }
    switch membership.role {
    case .owner?: return membership
    case nil: throw Failure.notInCollection
    default: throw Failure.insufficientPermissions
    }
  }

  /// - Throws: the validation failure, the same for a user whom the requester may not address as for an unknown id.
  private func requireVisible(_ invitee: UserID, to requester: Requester, at now: Date) async throws {
    let resolutions = try await contactVisibility.resolve([.init(id: invitee)], for: requester, at: now)
    guard case .visible? = resolutions.first else {
      throw Failure.invalid(.init("inviteeUserId", "must be a user's id"))
    }
  }

  /// The invite in the path, and whether it is for no e-mail address, or for the user's.
  private func inviteInPath(
    _ context: SignedIn
  ) async throws -> (id: InviteID, collection: String, addressMatches: Bool) {
    let invite = try await invites.invite(try context.inviteID())
    guard case .collection(let collection) = invite.target else { throw Failure.inviteNotFound }
    let addressMatches = try await invites.addressMatches(invite, context.user, in: users)
    return (invite.id, collection.prefixed(.collection), addressMatches)
  }
}

extension SignedIn {
  /// The id of the invite in the path.
  ///
  /// - Throws: 404 for text that is not an id.
  func inviteID() throws(Failure) -> InviteID {
    guard let id = parameters.get("invite").flatMap({ InviteID($0, prefix: .invite) }) else { throw .inviteNotFound }
    return id
  }
}
