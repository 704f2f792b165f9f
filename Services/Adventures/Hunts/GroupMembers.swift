import Clients
import EventFeed
import RestQueries
import Wire

/// The members of groups, who may read the topics of new hunts of these.
struct GroupMembers: Sendable {
  let client: TopicAccessClient

  /// Of the caller's groups in which hunts are made, at most a thousand of each, as the event of a hunt lets them in:
  /// others are let in when they ask for its topic. Who joins a group meanwhile is told of by ``GroupParticipations``.
  ///
  /// - Throws: ``Wire/Failure/unavailable`` when groups does not answer.
  func members(
    ofGroupsIn operation: RestOperation, for caller: RestQueries.Caller
  ) async throws -> [GroupID: [UserID]] {
    guard operation.request.method == .post else { return [:] }
    let named = Set((operation.body?.rows ?? []).compactMap { $0["group_id"]?.string.flatMap { GroupID($0) } })
    var members: [GroupID: [UserID]] = [:]
    for group in named.intersection(caller.groups) {
      members[group] = try await self.members(of: group)
    }
    return members
  }

  /// Nobody where groups is of the version before, which does not answer adventures.
  private func members(of group: GroupID) async throws -> [UserID] {
    do { return try await client.someReaders(of: EventTopic.group(group), at: .groups) } catch let failure as Failure
      where failure.kind == .forbidden
    {
      return []
    }
  }
}
