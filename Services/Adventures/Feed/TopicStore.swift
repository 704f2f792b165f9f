import Clients
import Database
import EventFeed
import Foundation
import RestQueries
import Wire

/// The queries for the topics of hunts. The topics of plans, places and shares are their users' own.
struct TopicStore: TopicQuerying {
  let database: any Database
  let participations: GroupParticipations
  let now: @Sendable () -> Date

  private static let topicsMax = 1000

  /// Who sees a hunt reads and writes its topic; who sees its submissions reads theirs.
  func access(of user: UserID, to topic: String) async throws -> TopicAccess {
    guard let id = topic.split(separator: ":").last.map(String.init), ID<Hunt>(id)?.description == id,
      [EventTopic.hunt(id), EventTopic.submissions(id)].contains(topic)
    else { return .none }
    let caller = try await caller(user)
    let access = try await access(of: caller, to: topic, ofHunt: id)
    guard !access.read, let current = try await participations.current(caller) else { return access }
    return try await self.access(of: current, to: topic, ofHunt: id)
  }

  private func access(
    of caller: RestQueries.Caller, to topic: String, ofHunt id: String
  ) async throws -> TopicAccess {
    guard topic == EventTopic.hunt(id) else {
      // Whoever takes part was let in by the event of it.
      let sees = try await database.readOnce { db in try Hunt.areSubmissionsVisible(in: id, caller, on: db) }
      return TopicAccess(read: sees, write: false)
    }
    let reader = try await participations.letIn(caller, to: id)
    let sees = try await database.readOnce { db in try Hunt.isVisible(id, reader, on: db) }
    return TopicAccess(read: sees, write: sees)
  }

  func topics(of user: UserID) async throws -> [String] {
    let caller = try await participations.letIn(self.caller(user), to: nil)
    return try await database.readOnce { db in
      let found = try db.rows(of: [
        """
        select h.id from hunt h where \(AdventureTables.isVisible("h.id", caller))
        order by h.id desc limit \(Self.topicsMax)
        """,
        """
        select h.id from hunt h where \(AdventureTables.areSubmissionsVisible(in: "h.id", caller))
        order by h.id desc limit \(Self.topicsMax)
        """,
      ])
      return try found[0].map { EventTopic.hunt(try $0.get("id")) }
        + found[1].map { EventTopic.submissions(try $0.get("id")) }
    }
  }

  private func caller(_ user: UserID) async throws -> RestQueries.Caller {
    RestQueries.Caller(user, at: now(), groups: try await participations.memberships.groups(of: user))
  }
}
