import Clients
import Foundation
import Wire

/// The user who makes a change, with the time zone in which their days begin.
struct ActingUser: Sendable {
  let user: UserID
  let timeZone: TimeZone
}

extension ActingUser {
  fileprivate init(_ user: UserID, _ person: Person?) {
    self.init(user: user, timeZone: person?.timeZone.flatMap { TimeZone(identifier: $0) } ?? .gmt)
  }
}

extension PeopleCache {
  /// The time zone is UTC when the user has none, or auth cannot be reached and the user is not cached.
  func actingUser(_ user: UserID) async throws -> ActingUser {
    ActingUser(user, try await people([user])[user])
  }

  /// The same, fetched from auth, so that a time zone that was just changed takes effect at once.
  func freshActingUser(_ user: UserID) async throws -> ActingUser {
    ActingUser(user, try await fetch([user])[user])
  }
}
