import Foundation
import Synchronization
import Web
import Wire

/// The groups that users are in, cached for a moment: so long somebody who was removed may still be shown what they saw.
package final class GroupMemberships: Sendable {
  private let client: GroupsClient
  private let lifetime: Duration
  private let entries = Mutex<[UserID: (groups: [GroupID], until: ContinuousClock.Instant)]>([:])
  private static let entriesMax = 20_000

  package init(_ client: GroupsClient, lifetime: Duration = .seconds(2)) {
    self.client = client
    self.lifetime = lifetime
  }

  /// - Parameter whenFetched: called with groups that are not from the cache, before they are.
  /// - Throws: ``Wire/Failure/unavailable`` when groups does not answer.
  package func groups(
    of user: UserID, whenFetched: ([GroupID]) async throws -> Void = { _ in }
  ) async throws -> [GroupID] {
    let cached = entries.withLock { entries in entries[user].flatMap { $0.until > .now ? $0.groups : nil } }
    if let cached { return cached }
    let groups = try await client.groups(of: user)
    try await whenFetched(groups)
    entries.withLock { entries in
      if entries.count >= Self.entriesMax { entries = [:] }
      entries[user] = (groups, .now + lifetime)
    }
    return groups
  }
}
