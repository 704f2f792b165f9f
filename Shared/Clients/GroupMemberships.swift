import Foundation
import Synchronization
import Web
import Wire

/// The groups that users are in, cached for a moment. Groups ends what is cached about somebody who has left one
/// (``endCache(of:)``); a process that is not told sees it when the moment is over.
package final class GroupMemberships: Sendable {
  private struct State {
    var entries: [UserID: (groups: [GroupID], until: ContinuousClock.Instant)] = [:]
    /// Grows when memberships end: answers to calls that were made before are not cached.
    var changes = 0
  }

  private let client: GroupsClient
  private let lifetime: Duration
  private let state = Mutex(State())
  private static let entriesMax = 20_000

  package init(_ client: GroupsClient, lifetime: Duration = .seconds(2)) {
    self.client = client
    self.lifetime = lifetime
  }

  /// - Throws: ``Wire/Failure/unavailable`` when groups does not answer.
  package func groups(of user: UserID) async throws -> [GroupID] {
    let (cached, changes) = state.withLock { state in
      (state.entries[user].flatMap { $0.until > .now ? $0.groups : nil }, state.changes)
    }
    if let cached { return cached }
    let groups = try await client.groups(of: user)
    state.withLock { state in
      guard state.changes == changes else { return }
      if state.entries.count >= Self.entriesMax { state.entries = [:] }
      state.entries[user] = (groups, .now + lifetime)
    }
    return groups
  }

  package func endCache(of user: UserID) {
    state.withLock { state in
      state.changes += 1
      state.entries[user] = nil
    }
  }
}
