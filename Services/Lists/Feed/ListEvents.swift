import Database
import EventFeed
import Foundation
import Wire

/// The events of lists and their members. Each is recorded in the transaction of the change, which has locked the list.
enum ListEvents {
  /// Sent to the owner, who is the only one to know of the list.
  static func created(_ list: List, withID id: Int, at now: Date, on db: any Connection) {
    EventFeed.record(
      "list_created", to: [EventTopic.user(list.owner)], ["list_id": id],
      change: .of("lists", .insert, key: ["id": id], list.record(version: list.version, at: now)),
      access: [AccessChange(topic: EventTopic.list(id), user: list.owner, mayRead: true)], of: list.owner, at: now,
      on: db)
  }

  /// - Parameter list: after the change.
  static func changed(_ list: List, by user: UserID, at now: Date, on db: any Connection) {
    EventFeed.record(
      "list_changed", to: [EventTopic.list(list.id)], ["list_id": list.id, "by": user, "version": list.revision],
      change: .of("lists", .update, key: ["id": list.id], list.record(version: list.revision, at: now)), of: user,
      at: now,
      on: db)
  }

  /// - Parameter user: nil when the account of the owner is erased.
  static func deleted(_ list: Int, by user: UserID?, at now: Date, on db: any Connection) {
    EventFeed.record(
      "list_deleted", to: [EventTopic.list(list)], ["list_id": list, "by": user],
      change: .of("lists", .delete, key: ["id": list]), access: [.end(of: EventTopic.list(list))], of: user, at: now,
      on: db)
  }

  /// The list has another owner, an editor until now, because its owner's account is erased.
  ///
  /// - Parameter list: after the change.
  static func transferred(_ list: List, from user: UserID, at now: Date, on db: any Connection) {
    let topic = EventTopic.list(list.id)
    EventFeed.record(
      "list_owner_changed", to: [topic], ["list_id": list.id, "owner_id": list.owner],
      change: .of("lists", .update, key: ["id": list.id], list.record(version: list.version, at: now)),
      access: [AccessChange(topic: topic, user: user, mayRead: false)], of: nil, at: now, on: db)
  }

  /// - Parameter adder: who has added them; nil for a member who joins by themselves.
  static func joined(
    _ membership: Membership, addedBy adder: UserID?, at now: Date, on db: any Connection
  ) throws {
    let name = adder == nil ? nil : try db.row("select name from list where id = \(membership.list)")
    record(
      "member_joined", membership, mayRead: true,
      ["role": membership.role.rawValue, "by": adder ?? membership.user],
      push: try name.map { PushDetails(subject: try $0.get("name")) }, at: now, on: db)
  }

  /// The right to read the list stays.
  static func roleChanged(_ membership: Membership, to role: ListRole, at now: Date, on db: any Connection) {
    record("member_role_changed", membership, mayRead: nil, ["role": role.rawValue], at: now, on: db)
  }

  /// The tasks of a member who has left are assigned to nobody, and carry none of their tags. The rows of these tasks
  /// are told afterwards, on the list's topic alone.
  ///
  /// - Parameter user: the member, or who has removed them.
  static func left(_ membership: Membership, by user: UserID, at now: Date, on db: any Connection) {
    let name = user == membership.user ? "member_left" : "member_removed"
    record(name, membership, mayRead: false, ["by": user], at: now, on: db)
  }

  /// To the list's topic and to the member's own.
  ///
  /// - Parameter mayRead: nil when they may as before.
  private static func record(
    _ name: String, _ membership: Membership, mayRead: Bool?, _ more: EventFields,
    push: PushDetails? = nil, at now: Date, on db: any Connection
  ) {
    let topic = EventTopic.list(membership.list)
    EventFeed.record(
      name, to: [topic, EventTopic.user(membership.user)],
      ["list_id": membership.list, "membership_id": membership.id, "user_id": membership.user] + more,
      access: mayRead.map { [AccessChange(topic: topic, user: membership.user, mayRead: $0)] }, push: push,
      of: membership.user, at: now, on: db)
  }

  /// A tag has another name or color, or none any more: on its owner's topic, and on those of the lists that show it.
  static func tagChanged(_ tag: Int, of user: UserID, on lists: [Int], at now: Date, on db: any Connection) {
    let topics = [EventTopic.user(user)] + lists.map(EventTopic.list)
    for start in stride(from: 0, to: topics.count, by: FeedEvent.topicsMax) {
      EventFeed.record(
        "tag_changed", to: Array(topics[start...].prefix(FeedEvent.topicsMax)), ["tag_id": tag], of: user, at: now,
        on: db)
    }
  }
}

extension List {
  /// The columns of `public.lists`, without those that differ between readers.
  fileprivate func record(version: Int, at now: Date) -> EventFields {
    [
      "name": name, "description": description, "visibility": visibility, "color": color, "list_type": type,
      "owner_id": owner, "version": version, "created_at": createdAt, "updated_at": now,
    ]
  }
}
