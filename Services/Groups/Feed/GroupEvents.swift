import Database
import EventFeed
import Foundation
import Wire

/// The events of groups and their members. Each is recorded in the transaction of the change, which holds the group's
/// lock.
enum GroupEvents {
  /// Sent to the owner, who is the only member.
  static func created(_ group: Group, by owner: UserID, on db: any Connection) {
    let topic = EventTopic.group(group.id)
    EventFeed.record(
      "group_created", to: [EventTopic.user(owner)], ["group_id": group.id],
      change: .of("social_groups", .insert, key: ["id": group.id], group.record(at: group.createdAt)),
      access: [AccessChange(topic: topic, user: owner, mayRead: true)], of: owner, at: group.createdAt, on: db)
  }

  /// - Parameters:
  ///   - group: after the change.
  ///   - user: nil when the account of who made the group is erased.
  static func changed(_ group: Group, by user: UserID?, at now: Date, on db: any Connection) {
    EventFeed.record(
      "group_changed", to: [EventTopic.group(group.id)], ["group_id": group.id, "by": user],
      change: group.update(at: now), of: user, at: now, on: db)
  }

  /// - Parameter group: after the change; nil where its row is as it was.
  static func ownerChanged(
    _ id: GroupID, to owner: UserID, _ group: Group? = nil, at now: Date, on db: any Connection
  ) {
    EventFeed.record(
      "group_owner_changed", to: [EventTopic.group(id)], ["group_id": id, "owner_id": owner],
      change: group?.update(at: now), of: owner, at: now, on: db)
  }

  static func closed(_ id: GroupID, at now: Date, on db: any Connection) {
    let topic = EventTopic.group(id)
    EventFeed.record(
      "group_closed", to: [topic], ["group_id": id], change: .of("social_groups", .delete, key: ["id": id]),
      access: [.end(of: topic)], of: nil, at: now, on: db)
  }

  /// - Parameters:
  ///   - group: with them.
  ///   - adder: who has added them; nil for a member who joins by themselves.
  static func joined(
    _ user: UserID, _ group: Group, as member: MembershipID, addedBy adder: UserID? = nil, at now: Date,
    on db: any Connection
  ) {
    let (id, topic) = (group.id, EventTopic.group(group.id))
    EventFeed.record(
      "member_joined", to: [topic, EventTopic.user(user)], ["group_id": id, "user_id": user, "by": adder ?? user],
      change: .of(
        "group_members", .insert, key: ["id": member, "group_id": id, "user_id": user], ["joined_at": now]),
      // A new group counts its owner already.
      changes: group.memberCount == 1 ? [] : [group.update(at: now)],
      access: [AccessChange(topic: topic, user: user, mayRead: true)],
      push: adder.map { _ in PushDetails(subject: group.name) }, of: user, at: now, on: db)
  }

  /// Two events: who has left does not see the row of the group any more.
  ///
  /// - Parameters:
  ///   - group: without them.
  ///   - remover: nil for a member who leaves.
  static func left(
    _ user: UserID, _ group: Group, as member: MembershipID?, removedBy remover: UserID?, at now: Date,
    on db: any Connection
  ) {
    let (id, topic) = (group.id, EventTopic.group(group.id))
    let name = remover == nil ? "member_left" : "member_removed"
    let payload: EventFields = ["group_id": id, "user_id": user, "by": remover ?? user]
    func row() -> EventChange {
      .of("group_members", .delete, key: ["id": member, "group_id": id, "user_id": user])
    }
    EventFeed.record(
      name, to: [topic], payload, change: row(), changes: [group.update(at: now)],
      access: [AccessChange(topic: topic, user: user, mayRead: false)], of: user, at: now, on: db)
    EventFeed.record(name, to: [EventTopic.user(user)], payload, change: row(), of: user, at: now, on: db)
  }
}

extension Group {
  fileprivate func update(at now: Date) -> EventChange {
    .of("social_groups", .update, key: ["id": id], record(at: now))
  }

  /// The columns of `public.social_groups`, without the codes by which others could join.
  fileprivate func record(at now: Date) -> EventFields {
    [
      "name": name, "description": description, "created_by": createdBy, "member_count": memberCount,
      "created_at": createdAt, "updated_at": now,
    ]
  }
}
