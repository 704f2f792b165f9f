import Database
import RestQueries
import Wire

/// Groups and their members as the tables `social_groups` and `group_members`, for apps that read tables.
///
/// Groups that were made under `/api/groups` are in them, too, and keep their limits.
enum GroupTables {
  /// - Parameter pageOrigin: scheme and host of the page that a code opens.
  static func schema(pageOrigin: String, memberships: MembershipStore) -> RestSchema {
    let writes = GroupTableWrites(memberships: memberships)
    return RestSchema(groups(pageOrigin, writes), members(writes))
  }

  private static func groups(_ pageOrigin: String, _ writes: GroupTableWrites) -> Table {
    Table(
      "social_groups", from: "social_group",
      columns: [
        Column("id", .uuid, .key), Column("name", .text), Column("description", .text),
        Column("created_by", .uuid, .owner), Column("invite_code", .text),
        Column("qr_code", .text) { group, _ in "cast(\(pageOrigin + "/i/") as text) || \(group.invite_code)" },
        Column("member_count", .integer, .never), Column("created_at", .timestamp, .createdAt),
        Column("updated_at", .timestamp, .updatedAt),
      ],
      relations: [.many("group_members", by: "group_id")], isReplaceable: true,
      access: Access(
        sees: { group, caller in "\(group.closed_at) is null and \(isOfMember(group.id, caller))" },
        inserts: { group, caller in "\(group.created_by) = \(caller.id)" },
        updates: { group, caller in isOwner(group.id, caller) },
        deletes: { group, caller in isOwner(group.id, caller) }),
      writes: TableWrites(
        insert: GroupTableWrites.insertGroup, update: GroupTableWrites.changeGroups,
        delete: writes.closeGroups))
  }

  private static func members(_ writes: GroupTableWrites) -> Table {
    Table(
      "group_members", from: "membership",
      columns: [
        Column("id", .uuid, .key), Column("group_id", .uuid, .onInsert), Column("user_id", .uuid, .owner),
        Column("joined_at", .timestamp, .createdAt),
      ],
      relations: [.one("social_groups", by: "group_id")], unique: [["group_id", "user_id"]], nested: ["invite_code"],
      access: Access(
        sees: { member, caller in "\(member.state) = 'active' and \(isOfMember(member.group_id, caller))" },
        inserts: { member, caller in "\(member.user_id) = \(caller.id)" },
        deletes: { member, caller in "\(member.user_id) = \(caller.id) or \(isOwner(member.group_id, caller))" }),
      writes: TableWrites(insert: writes.insertMember, delete: writes.endMemberships))
  }

  private static func isOfMember(_ group: SQL, _ caller: Caller) -> SQL {
    "\(group) in (select m.group_id from membership m where m.user_id = \(caller.id) and m.state = 'active')"
  }

  private static func isOwner(_ group: SQL, _ caller: Caller) -> SQL {
    """
    exists (select 1 from membership o where o.group_id = \(group) and o.user_id = \(caller.id) and o.role = 'owner')
    """
  }
}
