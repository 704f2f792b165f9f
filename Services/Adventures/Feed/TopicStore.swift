import Clients
import Database
import EventFeed
import Foundation
import RestQueries
import Wire

/// The queries for the topics of hunts. The topics of plans, places and shares are their users' own.
struct TopicStore: TopicQuerying {
  let database: any Database
  let groups: GroupMemberships
  let now: @Sendable () -> Date

  private static let topicsMax = 1000

  /// Who sees a hunt reads and writes its topic.
  func access(of user: UserID, to topic: String) async throws -> TopicAccess {
    guard let id = topic.split(separator: ":").last.map(String.init), ID<Hunt>(id)?.description == id,
      topic == EventTopic.hunt(id)
    else { return .none }
    let caller = try await caller(user)
    let sees = try await database.readOnce { db in try Hunt.isVisible(id, caller, on: db) }
    return TopicAccess(read: sees, write: sees)
  }

  func topics(of user: UserID) async throws -> [String] {
    let caller = try await caller(user)
    return try await database.readOnce { db in
      try db.rows(
        """
        select h.id from hunt h where \(AdventureTables.isVisible("h.id", caller))
        order by h.id desc limit \(Self.topicsMax)
        """
      ).map { EventTopic.hunt(try $0.get("id")) }
    }
  }

  private func caller(_ user: UserID) async throws -> RestQueries.Caller {
    RestQueries.Caller(user, at: now(), groups: try await groups.groups(of: user))
  }
}
