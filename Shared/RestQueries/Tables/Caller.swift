import Foundation
import Wire

/// Who asks, and when. No statement is made without one.
package struct Caller: Sendable {
  package let id: UserID
  package let now: Date
  /// The groups that the user belongs to, where another service keeps them.
  package let groups: [GroupID]
  /// The users whom a block keeps apart from this one, where another service keeps them.
  package let blocked: [UserID]

  package init(_ id: UserID, at now: Date, groups: [GroupID] = [], blocked: [UserID] = []) {
    self.id = id
    self.now = now
    self.groups = groups
    self.blocked = blocked
  }

  /// The time that a row gets: in whole seconds, as times are shown, so that what an app sends back is found.
  package var rowTime: Date { Date(timeIntervalSince1970: now.timeIntervalSince1970.rounded(.down)) }
}
