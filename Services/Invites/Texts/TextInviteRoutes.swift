import ClientBodies
import Clients
import Crypto
import Foundation
import Hummingbird
import Messages
import Web
import Wire

/// Invites by text message to groups, for an app that identifies people by phone numbers.
struct TextInviteRoutes: Sendable {
  let textInvites: TextInviteStore
  let contactDiscovery: ContactDiscovery
  let contactVisibility: ContactVisibility
  let joinTargetClient: JoinTargetClient
  let users: UsersClient
  let idempotency: Idempotency
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    let userRoutes = routes.group(context: SignedIn.self)
    userRoutes.post("/api/invites/check-users", use: checkUsers)
    userRoutes.post("/api/invites/send", use: send)
    userRoutes.get("/api/invites/pending/{group}", use: pending)
  }

  @Sendable private func checkUsers(_ request: Request, _ context: SignedIn) async throws -> Response {
    let numbers = try await request.json(CheckUsersBody.self).phone_numbers
    try E164.require(numbers, field: "phone_numbers", countMax: CheckUsersBody.numbersMax)
    try await users.requireProven(context.user)
    let requester = Requester(user: context.user, clientAddress: request.clientAddress)
    let people = try await contactDiscovery.people(withNumbers: Set(numbers), for: requester, at: now())
    var seen: Set<String> = []
    let distinct = numbers.filter { seen.insert($0).inserted }
    let existing = distinct.compactMap { number in
      people[number].map { ContactCheck.User(phoneNumber: number, userID: $0.id.description, firstName: $0.firstName) }
    }
    let needsInvite = distinct.filter { people[$0] == nil }
    return .json(ContactCheck(existing: existing, existingUsers: existing, needsInvite: needsInvite))
  }

  @Sendable private func send(_ request: Request, _ context: SignedIn) async throws -> Response {
    var request = request
    let call = try await request.idempotentCall(by: context.user.description, context)
    let body = try await request.json(SendInvitesBody.self)
    let (recipients, existing, now) = (try body.recipients(), body.existing_users ?? [], now())
    let requester = Requester(user: context.user, clientAddress: request.clientAddress)
    let reply = try await idempotency.claimed(call) {
      let group = try await joinTargetClient.activeMembership(of: requester.user, in: GroupID(body.group_id))
      guard !recipients.isEmpty || !existing.isEmpty else {
        return (TextInviteStore.Batch(group: group, sender: requester, senderName: nil, recipients: []), 0)
      }
      guard let sender = try await users.people([requester.user])[requester.user], sender.isProven else {
        throw Failure.notProven
      }
      let contacts = try await contacts(existing, by: requester, at: now)
      let departed = try await departed(contacts, from: group, by: requester.user)
      let invited = Set(recipients.map(\.number))
      let batch = TextInviteStore.Batch(
        group: group, sender: requester, senderName: sender.firstName,
        recipients: recipients + departed.filter { !invited.contains($0.number) })
      if !batch.recipients.isEmpty, group.seatsLeft == 0 { throw Failure.groupFull }
      if !contacts.isEmpty { try await textInvites.dryRun(batch, at: now) }
      return (batch, try await add(contacts.map(\.id), to: group, by: requester.user, call))
    } effect: { prepared, db in
      let (batch, addedCount) = prepared
      let sent = try textInvites.create(batch, at: now, on: db)
      return try .json(SentInvites(sentInvites: sent, addedMembers: addedCount))
    }
    textInvites.outbox.wakeUp()
    return reply.response
  }

  @Sendable private func pending(_ request: Request, _ context: SignedIn) async throws -> Response {
    let id = context.parameters.get("group").flatMap { GroupID($0) }
    let group = try await joinTargetClient.activeMembership(of: context.user, in: id)
    let open = try await textInvites.invites.pendingTexts(to: group.groupID, at: now())
    let people = try await users.names(of: Set(open.compactMap(\.invite.inviter)))
    let invites: [PendingInvite] = open.compactMap { text in
      guard let inviter = text.invite.inviter else { return nil }
      let isOwn = inviter == context.user
      return PendingInvite(
        id: text.invite.id.description, groupID: group.groupID.description,
        phoneNumber: isOwn ? text.number : PhoneNumber(text.number)?.masked ?? "", code: nil,
        invitedBy: inviter.description, createdAt: text.invite.createdAt, expiresAt: text.invite.expiresAt,
        usedAt: nil, profiles: .init(firstName: people[inviter]?.firstName ?? ""))
    }
    return .json(InvitesAnswer(invites: invites))
  }
}

/// Checks and calls to other services before anything is written.
extension TextInviteRoutes {
  /// The existing users in a request. The requester must be allowed to address each of them, and each must have the
  /// number that the request has for them.
  ///
  /// - Throws: 422 that names the first for whom this does not hold; 429.
  private func contacts(
    _ existing: [SendInvitesBody.ExistingUser], by requester: Requester, at now: Date
  ) async throws -> [Contact] {
    guard existing.count <= AddToGroup.usersMax else {
      throw Failure.invalid(.init("existing_users", "must be at most \(AddToGroup.usersMax)"))
    }
    guard !existing.isEmpty else { return [] }
    let references = existing.map { ContactVisibility.Reference(id: UserID($0.user_id), phone: $0.phone_number) }
    let resolutions = try await contactVisibility.resolve(references, for: requester, at: now)
    return try zip(existing, resolutions).enumerated().map { index, element in
      let (user, resolution) = element
      switch resolution {
      case .notVisible: throw Failure.invalid(.init("existing_users.\(index).user_id", "must be a user's id"))
      case .phoneMismatch:
        throw Failure.invalid(.init("existing_users.\(index).phone_number", "must be this user's phone number"))
      case .visible(let person, let phone):
        let recipient = phone.map { SendInvitesBody.Recipient(input: user.phone_number ?? $0.text, number: $0) }
        return Contact(id: person.id, recipient: recipient)
      }
    }
  }

  /// An existing user, and the number that the requester has of them, if any.
  private struct Contact: Sendable {
    let id: UserID
    let recipient: SendInvitesBody.Recipient?
  }

  /// The contacts who have left the group or were removed from it, as far as their number is known: they get an invite
  /// and are not added.
  private func departed(
    _ contacts: [Contact], from group: GroupMembership, by user: UserID
  ) async throws -> [SendInvitesBody.Recipient] {
    guard !contacts.isEmpty else { return [] }
    let add = AddToGroup(users: contacts.map(\.id), addedBy: user)
    let departed = Set(try await joinTargetClient.groups.departed(among: add, from: group.groupID).departed)
    var seen: Set<UserID> = []
    return contacts.filter { departed.contains($0.id) && seen.insert($0.id).inserted }.compactMap(\.recipient)
  }

  /// Adds users to the group and returns how many were not members before.
  ///
  /// - Throws: 400 `group_full`; then nobody was added.
  private func add(
    _ added: [UserID], to group: GroupMembership, by user: UserID, _ call: IdempotentCall?
  ) async throws -> Int {
    guard !added.isEmpty else { return 0 }
    let key = call.map { call in
      Data(SHA256.hash(data: Data("\(user) \(call.key)".utf8))).base64EncodedString()
    }
    let add = AddToGroup(users: added, addedBy: user)
    return try await joinTargetClient.groups.add(add, to: group.groupID, idempotencyKey: key).added.count
  }
}

extension Failure {
  static let groupFull = Failure(.malformed, "group_full", "A group has at most 12 members.")
}
