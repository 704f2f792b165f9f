import Foundation
import Synchronization
import Web
import Wire

/// The groups that users are in, and whom blocks keep apart from them, cached for a moment. Who leaves a group or is
/// removed loses it at once when groups says so (``endCache(of:)``), else with the end of the cached answer.
package final class GroupMemberships: Sendable {
  private struct State {
    var entries: [UserID: (member: MemberOfGroups, until: ContinuousClock.Instant)] = [:]
    /// Grows when memberships end or blocks change: answers to calls that were made before are not cached.
    var endings = 0
  }

  private let client: GroupsClient
  private let lifetime: Duration
  private let state = Mutex(State())
  private static let entriesMax = 20_000

  package init(_ client: GroupsClient, lifetime: Duration = .seconds(2)) {
    self.client = client
    self.lifetime = lifetime
  }

  package func groups(of user: UserID) async throws -> [GroupID] { try await member(user).groups }

  /// - Parameters:
  ///   - isCurrent: whether groups is asked, whatever is in the cache.
  ///   - whenFetched: called with groups that are not from the cache, before they are.
  /// - Throws: ``Wire/Failure/unavailable`` when groups does not answer.
  package func member(
    _ user: UserID, isCurrent: Bool = false, whenFetched: ([GroupID]) async throws -> Void = { _ in }
  ) async throws -> MemberOfGroups {
    let (cached, endings) = state.withLock { state in
      (isCurrent ? nil : state.entries[user].flatMap { $0.until > .now ? $0.member : nil }, state.endings)
    }
    if let cached { return cached }
    let until = ContinuousClock.now + lifetime
    let member = try await client.member(user)
    try await whenFetched(member.groups)
    state.withLock { state in
      guard state.endings == endings else { return }
      if state.entries.count >= Self.entriesMax { state.entries = [:] }
      state.entries[user] = (member, until)
    }
    return member
  }

  /// The user is in a group no longer, or blocks have changed.
  package func endCache(of user: UserID) {
    state.withLock { state in
      state.endings += 1
      state.entries[user] = nil
    }
  }
}
