import Clients
import Crypto
import Foundation
import Hummingbird
import Messages
import Web
import Wire

/// Texts that invite people to a group, for an app that knows people by their numbers.
struct TextInviteRoutes: Sendable {
  let texts: TextInvites
  let checks: ContactChecks
  let destinations: Destinations
  let users: UsersClient
  let idempotency: Idempotency
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    let mine = routes.group(context: SignedIn.self)
    mine.post("/api/invites/check-users", use: checkUsers)
    mine.post("/api/invites/send", use: send)
    mine.get("/api/invites/pending/{group}", use: pending)
  }

  @Sendable private func checkUsers(_ request: Request, _ context: SignedIn) async throws -> Response {
    let numbers = try await request.json(CheckUsersBody.self).phone_numbers
    try CheckUsersBody.require(numbers)
    let people = try await checks.people(behind: Set(numbers), for: context.user, at: now())
    var seen: Set<String> = []
    let once = numbers.filter { seen.insert($0).inserted }
    let existing = once.compactMap { number in
      people[number].map { KnownNumberBody(phone_number: number, user_id: $0.id, first_name: $0.firstName) }
    }
    return .json(CheckedUsersBody(existing: existing, needsInvite: once.filter { people[$0] == nil }))
  }

  @Sendable private func send(_ request: Request, _ context: SignedIn) async throws -> Response {
    var request = request
    let call = try await request.idempotentCall(by: context.user.description, context)
    let body = try await request.json(SendBody.self)
    let (numbers, existing, now) = (try body.numbers(), body.existing_users ?? [], now())
    let user = context.user
    let reply = try await idempotency.claimed(call) {
      let group = try await standing(user, in: body.group_id)
      let added = try await known(existing, by: user, at: now)
      if !numbers.isEmpty, group.seatsLeft == 0 { throw Failure.groupFull }
      let sender = numbers.isEmpty ? nil : try await users.people([user])[user]
      let letter = TextInvites.Letter(group: group, sender: user, senderName: sender?.firstName, numbers: numbers)
      if !added.isEmpty { try await texts.rehearse(letter, at: now) }
      return (letter, try await add(added, to: group, by: user, call))
    } effect: { letter, db in
      let sent = try texts.write(letter.0, at: now, on: db)
      return try .json(SentBody(sent_invites: sent, added_members: letter.1))
    }
    texts.outbox.ring()
    return reply.response
  }

  @Sendable private func pending(_ request: Request, _ context: SignedIn) async throws -> Response {
    let group = try await standing(context.user, in: context.parameters.get("group") ?? "")
    let open = try await texts.invites.pendingTexts(to: group.groupID, at: now())
    let people = try await users.names(of: Set(open.compactMap(\.invite.inviter)))
    let rows: [PendingBody.Row] = open.compactMap { text in
      guard let inviter = text.invite.inviter else { return nil }
      let isOwn = inviter == context.user
      return PendingBody.Row(
        id: text.invite.id, group_id: group.groupID,
        phone_number: isOwn ? text.number : PhoneNumber(text.number)?.masked ?? "",
        code: nil, invited_by: inviter, created_at: text.invite.createdAt,
        expires_at: text.invite.expiresAt, used_at: nil,
        profiles: .init(first_name: people[inviter]?.firstName ?? ""))
    }
    return .json(PendingBody(invites: rows))
  }
}

/// What these routes ask of others before they do anything.
extension TextInviteRoutes {
  /// - Throws: 403 for everyone but active members, also when there is no such group.
  private func standing(_ user: UserID, in group: String) async throws -> GroupStanding {
    guard let id = GroupID(group), let standing = try await destinations.groups.standing(of: user, in: id),
      standing.isActive
    else { throw Failure.notInGroup }
    return standing
  }

  /// The people whom the app names, each of whom must be there, and have the number that it names them with.
  ///
  /// - Throws: 422 that names the first who is not; 429.
  private func known(
    _ existing: [SendBody.ExistingUser], by user: UserID, at now: Date
  ) async throws -> [UserID] {
    guard existing.count <= AddToGroup.usersMax else {
      throw Failure.invalid(.init("existing_users", "must be at most \(AddToGroup.usersMax)"))
    }
    guard !existing.isEmpty else { return [] }
    // Whoever could try numbers on somebody without end would find theirs.
    try await checks.ration(existing.count { $0.phone_number != nil }, for: user, at: now)
    let ids = existing.map { UserID($0.user_id) }
    let phones = Set(existing.compactMap { $0.phone_number.flatMap { PhoneNumber($0)?.text } })
    let people = try await users.people(Set(ids.compactMap { $0 }), matching: phones)
    return try existing.enumerated().map { index, named in
      guard let id = ids[index], let person = people[id] else {
        throw Failure.invalid(.init("existing_users.\(index).user_id", "must be a user's id"))
      }
      if let phone = named.phone_number {
        guard let number = PhoneNumber(phone)?.text, person.phone == number else {
          throw Failure.invalid(.init("existing_users.\(index).phone_number", "must be this user's phone number"))
        }
      }
      return id
    }
  }

  /// How many were really added.
  ///
  /// - Throws: 400 `group_full`, and then nobody was.
  private func add(
    _ added: [UserID], to group: GroupStanding, by user: UserID, _ call: IdempotentCall?
  ) async throws -> Int {
    guard !added.isEmpty else { return 0 }
    let key = call.map { call in
      Data(SHA256.hash(data: Data("\(user) \(call.key)".utf8))).base64EncodedString()
    }
    let add = AddToGroup(users: added, addedBy: user)
    return try await destinations.groups.add(add, to: group.groupID, idempotencyKey: key).added.count
  }
}

extension Failure {
  /// The app shows these words.
  static let notInGroup = Failure(.forbidden, "not_a_member", "Not a member of this group")
  static let groupFull = Failure(.malformed, "group_full", "A group has at most 12 members.")
}
