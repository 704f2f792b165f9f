import Clients
import Database
import Foundation
import Wire

/// Letting somebody into a list by their name: directly, or by an invite that waits for them.
struct LettingIn: Sendable {
  let database: any Database
  let naming: Naming
  let invites: InvitesClient

  enum Way: Sendable {
    case directly(Person, Written?)
    case invited(ListInvitation)
  }

  /// How somebody comes in. An e-mail address that nobody has proven, or that is somebody's whom a block keeps apart, is
  /// invited as it was written; so is by their id who has left or was removed, unless the owner undoes what they did.
  ///
  /// - Throws: 404 for strangers to the list and for whoever may not be named, 403 for viewers and for who has proven
  ///   nothing, 409 and 422 for who is in the list, 429 when the day's names are used up.
  func way(
    for name: PersonName, to list: Int, as role: Role, by user: UserID, at now: Date
  ) async throws -> Way {
    let mine = try await database.write { db in
      let mine = try ListStore.list(list, for: user, on: db).role
      try mine.requireEditor()
      try NamedPeople.take(by: user, at: now, on: db)
      return mine
    }
    try await naming.users.requireProven(user)
    let found = try await naming.person(name, by: user) { other in
      try await departure(of: other, from: list)?.mayBeUndone(by: user, as: mine) ?? false
    }
    guard let person = found else {
      guard case .email(let address) = name else { throw Failure.userNotFound }
      return .invited(try await invite(.email(address), to: list, as: role, by: user))
    }
    let gone = try await database.read { db in
      try Self.requireOutside(person.id, of: list, on: db)
      return try Removals.departure(of: person.id, from: list, on: db)
    }
    guard gone?.mayBeUndone(by: user, as: mine) ?? true else {
      return .invited(try await invite(.user(person.id), to: list, as: role, by: user))
    }
    guard case .email(let address) = name else { return .directly(person, nil) }
    return .directly(person, Written(by: user, email: address.lowercased()))
  }

  /// - Throws: ``HasGone`` when they have left, or were removed, a moment ago.
  static func add(
    _ person: UserID, to list: Int, as role: Role, by user: UserID, naming: Written?, at now: Date,
    on db: any Connection
  ) throws -> Membership {
    let held = try ListStore.hold(list, for: user, on: db)
    try requireOutside(person, of: list, on: db)
    let departure = try Removals.departure(of: person, from: list, on: db)
    guard departure?.mayBeUndone(by: user, as: held.role) ?? true else { throw HasGone() }
    let made = try MembershipStore.add(person, to: list, as: role, naming: naming, at: now, on: db)
    guard let made else { throw Failure.alreadyMember }
    return made
  }

  /// - Throws: 422 for the owner, 409 for a member.
  private static func requireOutside(_ person: UserID, of list: Int, on db: any Connection) throws {
    switch try MembershipStore.role(of: person, in: list, on: db) {
    case nil: return
    case .owner: throw Failure.invalid(.init("user_identifier", "is the owner of this list"))
    default: throw Failure.alreadyMember
    }
  }

  private func departure(of person: UserID, from list: Int) async throws -> Departure? {
    try await database.read { db in try Removals.departure(of: person, from: list, on: db) }
  }

  private func invite(
    _ invitee: InviteToList.Invitee, to list: Int, as role: Role, by user: UserID
  ) async throws -> ListInvitation {
    do {
      return try await invites.invite(.init(list: list, role: role.rawValue, invitedBy: user, invitee: invitee))
    } catch let failure as Failure where failure.kind == .notFound {
      // Of an older process, which does not know of such invites.
      throw Failure.unavailable
    }
  }
}

/// Whoever was to be let in directly has gone in between, and needs an invite.
struct HasGone: Error {}
