import Database
import EventFeed
import Foundation
import Wire

/// The events of collections and their members. Each is recorded in the transaction of the change, which holds the
/// collection's lock. Ids have the prefixes of the apps with share links.
enum CollectionEvents {
  /// Sent to the owner, who is the only member.
  static func created(_ collection: Collection, on db: any Connection) {
    EventFeed.record(
      "collection_created", to: [EventTopic.user(collection.owner)], collection.payload,
      access: [AccessChange(topic: EventTopic.collection(collection.id), user: collection.owner, mayRead: true)],
      of: collection.owner, at: collection.createdAt, on: db)
  }

  /// - Parameter collection: after the change.
  static func changed(_ collection: Collection, at now: Date, on db: any Connection) {
    EventFeed.record(
      "collection_changed", to: [EventTopic.collection(collection.id)], collection.payload, of: collection.owner,
      at: now, on: db)
  }

  static func deleted(_ id: CollectionID, at now: Date, on db: any Connection) {
    let topic = EventTopic.collection(id)
    EventFeed.record(
      "collection_deleted", to: [topic], ["collection_id": id.prefixed(.collection)],
      access: [.end(of: topic)], of: nil, at: now, on: db)
  }

  static func joined(
    _ user: UserID, _ id: CollectionID, as role: CollectionRole, at now: Date, on db: any Connection
  ) {
    record("member_joined", user, id, mayRead: true, ["role": role.rawValue], at: now, on: db)
  }

  static func roleChanged(
    of user: UserID, in id: CollectionID, to role: CollectionRole, at now: Date, on db: any Connection
  ) {
    record("member_role_changed", user, id, mayRead: nil, ["role": role.rawValue], at: now, on: db)
  }

  static func left(_ user: UserID, _ id: CollectionID, by remover: UserID, at now: Date, on db: any Connection) {
    let name = user == remover ? "member_left" : "member_removed"
    record(name, user, id, mayRead: false, ["by": remover.prefixed(.user)], at: now, on: db)
  }

  /// To the collection's topic and to the member's own.
  ///
  /// - Parameter mayRead: nil when they may as before.
  private static func record(
    _ name: String, _ user: UserID, _ id: CollectionID, mayRead: Bool?, _ more: EventFields, at now: Date,
    on db: any Connection
  ) {
    let topic = EventTopic.collection(id)
    EventFeed.record(
      name, to: [topic, EventTopic.user(user)],
      ["collection_id": id.prefixed(.collection), "user_id": user.prefixed(.user)] + more,
      access: mayRead.map { [AccessChange(topic: topic, user: user, mayRead: $0)] }, of: user, at: now, on: db)
  }
}

extension Collection {
  fileprivate var payload: EventFields {
    ["collection_id": id.prefixed(.collection), "name": name, "owner_id": owner.prefixed(.user)]
  }
}
