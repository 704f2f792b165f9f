import Clients
import Database
import Foundation
import Wire

/// Adds a user to a list by an identifier: directly, or by an invite that the user has to accept.
struct MemberAddition: Sendable {
  let database: any Database
  let contactVisibility: ContactVisibility
  let invites: InvitesClient

  enum Resolution: Sendable {
    /// The user can be added directly.
    case add(Person, EnteredEmail?)
    /// An invite was created, which the user has to accept.
    case invited(ListInvitation)
  }

  /// Finds the user and decides how they are added. An e-mail address that no user has verified, or whose user is
  /// hidden by a block, gets an invite by that address. A user who left or was removed gets an invite by their ID,
  /// unless the caller is the owner and has removed them.
  ///
  /// - Throws: 404 for non-members of the list and for users that are not visible, 403 for viewers and for callers
  ///   without a verified credential, 409 and 422 when the user is in the list, 429 when the day's quota is used up.
  func resolve(
    _ identifier: PersonIdentifier, to list: Int, as role: ListRole, by user: UserID, at now: Date
  ) async throws -> Resolution {
    let callerRole = try await database.write { db in
      let callerRole = try ListStore.list(list, for: user, on: db).role
      try callerRole.requireEditor()
      try PersonLookupQuota.spend(by: user, at: now, on: db)
      return callerRole
    }
    try await contactVisibility.users.requireProven(user)
    let found = try await contactVisibility.person(identifier, visibleTo: user) { other in
      try await departure(of: other, from: list)?.mayBeUndone(by: user, as: callerRole) ?? false
    }
    guard let person = found else {
      guard case .email(let address) = identifier else { throw Failure.userNotFound }
      return .invited(try await invite(.email(address), to: list, as: role, by: user))
    }
    let earlierDeparture = try await database.read { db in
      try Self.requireNonMember(person.id, of: list, on: db)
      return try DepartureStore.departure(of: person.id, from: list, on: db)
    }
    guard earlierDeparture?.mayBeUndone(by: user, as: callerRole) ?? true else {
      return .invited(try await invite(.user(person.id), to: list, as: role, by: user))
    }
    guard case .email(let address) = identifier else { return .add(person, nil) }
    return .add(person, EnteredEmail(by: user, email: address.lowercased()))
  }

  /// - Throws: ``ConcurrentDeparture`` when the user has left, or was removed, since ``resolve(_:to:as:by:at:)``.
  static func add(
    _ person: UserID, to list: Int, as role: ListRole, by user: UserID, enteredEmail: EnteredEmail?, at now: Date,
    on db: any Connection
  ) throws -> Membership {
    let locked = try ListStore.lock(list, for: user, on: db)
    try requireNonMember(person, of: list, on: db)
    let departure = try DepartureStore.departure(of: person, from: list, on: db)
    guard departure?.mayBeUndone(by: user, as: locked.role) ?? true else { throw ConcurrentDeparture() }
    let membership = try MembershipStore.add(
      person, to: list, as: role, enteredEmail: enteredEmail, by: user, at: now, on: db)
    guard let membership else { throw Failure.alreadyMember }
    return membership
  }

  /// - Throws: 422 for the owner, 409 for a member.
  private static func requireNonMember(_ person: UserID, of list: Int, on db: any Connection) throws {
    switch try MembershipStore.role(of: person, in: list, on: db) {
    case nil: return
    case .owner: throw Failure.invalid(.init("user_identifier", "is the owner of this list"))
    default: throw Failure.alreadyMember
    }
  }

  private func departure(of person: UserID, from list: Int) async throws -> Departure? {
    try await database.read { db in try DepartureStore.departure(of: person, from: list, on: db) }
  }

  private func invite(
    _ invitee: InviteToList.Invitee, to list: Int, as role: ListRole, by user: UserID
  ) async throws -> ListInvitation {
    do {
      return try await invites.invite(.init(list: list, role: role.rawValue, invitedBy: user, invitee: invitee))
    } catch let failure as Failure where failure.kind == .notFound {
      // An older process of the invites service does not have this route.
      throw Failure.unavailable
    }
  }
}

/// The user has left or was removed while they were being added directly, and needs an invite instead.
struct ConcurrentDeparture: Error {}
