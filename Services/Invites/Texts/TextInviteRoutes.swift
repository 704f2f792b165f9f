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
  let named: NamedPeople
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
    try await users.requireProven(context.user)
    let asker = Asker(user: context.user, place: request.place)
    let people = try await checks.people(behind: Set(numbers), for: asker, at: now())
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
    let asker = Asker(user: context.user, place: request.place)
    let reply = try await idempotency.claimed(call) {
      let group = try await standing(asker.user, in: body.group_id)
      guard !numbers.isEmpty || !existing.isEmpty else {
        return (TextInvites.Letter(group: group, sender: asker, senderName: nil, numbers: []), 0)
      }
      guard let sender = try await users.people([asker.user])[asker.user], sender.isProven else {
        throw Failure.notProven
      }
      let known = try await known(existing, by: asker, at: now)
      let departed = try await departed(known, from: group, by: asker.user)
      let asked = Set(numbers.map(\.number))
      let letter = TextInvites.Letter(
        group: group, sender: asker, senderName: sender.firstName,
        numbers: numbers + departed.filter { !asked.contains($0.number) })
      if !letter.numbers.isEmpty, group.seatsLeft == 0 { throw Failure.groupFull }
      if !known.isEmpty { try await texts.rehearse(letter, at: now) }
      return (letter, try await add(known.map(\.id), to: group, by: asker.user, call))
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

  /// The people whom the app names, each of whom it may name, and who have the number that it names them with.
  ///
  /// - Throws: 422 that names the first who is not; 429.
  private func known(
    _ existing: [SendBody.ExistingUser], by asker: Asker, at now: Date
  ) async throws -> [Known] {
    guard existing.count <= AddToGroup.usersMax else {
      throw Failure.invalid(.init("existing_users", "must be at most \(AddToGroup.usersMax)"))
    }
    guard !existing.isEmpty else { return [] }
    let names = existing.map { NamedPeople.Name(id: UserID($0.user_id), phone: $0.phone_number) }
    return try await zip(existing, named.answers(names, for: asker, at: now)).enumerated().map { index, answer in
      switch answer.1 {
      case .nobody: throw Failure.invalid(.init("existing_users.\(index).user_id", "must be a user's id"))
      case .otherPhone:
        throw Failure.invalid(.init("existing_users.\(index).phone_number", "must be this user's phone number"))
      case .person(let person, let phone):
        let numbered = phone.map { SendBody.Numbered(asked: answer.0.phone_number ?? $0.text, number: $0) }
        return Known(id: person.id, numbered: numbered)
      }
    }
  }

  /// Somebody who was named, and the number that whoever named them knows of them.
  private struct Known: Sendable {
    let id: UserID
    let numbered: SendBody.Numbered?
  }

  /// The numbers of those who were in the group once: they are asked back, and not put there.
  private func departed(
    _ known: [Known], from group: GroupStanding, by user: UserID
  ) async throws -> [SendBody.Numbered] {
    guard !known.isEmpty else { return [] }
    let add = AddToGroup(users: known.map(\.id), addedBy: user)
    let departed = Set(try await destinations.groups.departed(among: add, from: group.groupID).departed)
    var seen: Set<UserID> = []
    return known.filter { departed.contains($0.id) && seen.insert($0.id).inserted }.compactMap(\.numbered)
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
