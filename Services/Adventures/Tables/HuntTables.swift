import Database
import RestQueries
import Wire

/// Hunts, and what belongs to them.
extension AdventureTables {
  static let hunts = Table(
    "scavenger_hunts", from: "hunt",
    columns: [
      Column("id", .uuid, .key), Column("title", .text), Column("description", .text),
      Column("created_by", .uuid, .owner), Column("group_id", .uuid, .onInsert), Column("invite_code", .text),
      Column("status", .text), Column("start_time", .timestamp), Column("end_time", .timestamp),
      Column("participant_count", .integer) { hunt, _ in
        "select count(*) from hunt_participant p where p.hunt_id = \(hunt.id)"
      },
      Column("checkpoint_count", .integer) { hunt, _ in checkpointCount(of: hunt.id) },
      Column("progress", .number) { hunt, caller in
        """
        coalesce((select
            cast(s.completed_checkpoints as double precision) / nullif((\(checkpointCount(of: hunt.id))), 0)
          from hunt_score s where s.hunt_id = \(hunt.id) and s.user_id = \(caller.id)), 0)
        """
      },
      Column("created_at", .timestamp, .createdAt), Column("updated_at", .timestamp, .updatedAt),
    ],
    relations: [.many("hunt_checkpoints", by: "hunt_id"), .many("hunt_participants", by: "hunt_id")],
    nested: ["checkpoints"], rowsPerOwnerMax: 1000,
    access: Access(
      sees: { hunt, caller in isVisible(hunt.id, caller) },
      inserts: { hunt, caller in "\(hunt.group_id) is null or \(hunt.group_id) in (\(list: caller.groups))" },
      updates: { hunt, caller in "\(hunt.created_by) = \(caller.id)" },
      deletes: { hunt, caller in "\(hunt.created_by) = \(caller.id) and \(hunt.status) = 'draft'" }))

  static let checkpoints = Table(
    "hunt_checkpoints", from: "hunt_checkpoint",
    columns: [
      Column("id", .uuid, .key), Column("hunt_id", .uuid, .onInsert), Column("title", .text),
      Column("description", .text), Column("location", .json), Column("photo_required", .boolean),
      Column("points", .integer), Column("order_index", .integer), Column("created_at", .timestamp, .createdAt),
    ],
    relations: [.one("scavenger_hunts", by: "hunt_id"), .many("checkpoint_submissions", by: "checkpoint_id")],
    isReplaceable: true,
    access: Access(
      sees: { checkpoint, caller in isVisible(checkpoint.hunt_id, caller) },
      inserts: isInOwnDraft, updates: isInOwnDraft, deletes: isInOwnDraft))

  static let participants = Table(
    "hunt_participants", from: "hunt_participant",
    columns: [
      Column("id", .uuid, .key), Column("hunt_id", .uuid, .never), Column("user_id", .uuid, .owner),
      Column("joined_at", .timestamp, .createdAt),
    ],
    relations: [.one("scavenger_hunts", by: "hunt_id")], rowsPerOwnerMax: 1000,
    access: Access(sees: { row, caller in isVisible(row.hunt_id, caller) }, deletes: owner))

  static let submissions = Table(
    "checkpoint_submissions", from: "checkpoint_submission",
    columns: [
      Column("id", .uuid, .key), Column("checkpoint_id", .uuid, .onInsert), Column("user_id", .uuid, .owner),
      Column("photo_url", .text, .onInsert), Column("submitted_at", .timestamp, .createdAt),
      Column("verified", .boolean, .onUpdate),
    ],
    relations: [.one("hunt_checkpoints", by: "checkpoint_id")],
    unique: [["checkpoint_id", "user_id"]],
    access: Access(
      sees: { submission, caller in isSubmissionVisible(submission.checkpoint_id, of: submission.user_id, caller) },
      inserts: { submission, caller in
        """
        \(submission.checkpoint_id) in (
          select c.id from hunt_checkpoint c where c.hunt_id in (\(joined(caller))))
        """
      },
      updates: { submission, caller in
        """
        exists (select 1 from hunt_checkpoint c join hunt h on h.id = c.hunt_id
          where c.id = \(submission.checkpoint_id) and h.created_by = \(caller.id))
        """
      }))

  static let leaderboard = Table(
    "hunt_leaderboard", from: "hunt_score",
    columns: [
      Column("hunt_id", .uuid, .never), Column("id", .uuid, .never, stored: "user_id"),
      Column("name", .text) { score, caller in
        """
        select n.name from participant_name n
        where n.user_id = \(score.user_id) and \(isUnblocked(score.user_id, caller))
        """
      },
      Column("score", .integer, .never), Column("completed_checkpoints", .integer, .never),
      Column("completedCheckpoints", .integer, .never, stored: "completed_checkpoints"),
      Column("total_checkpoints", .integer) { score, _ in checkpointCount(of: score.hunt_id) },
      Column("totalCheckpoints", .integer) { score, _ in checkpointCount(of: score.hunt_id) },
      Column("last_submitted_at", .timestamp, .never).ordered { score, _ in
        // A version of the service that knows no exact time may have written the score since.
        """
        case when \(score.scored_at) >= \(score.last_submitted_at) then \(score.scored_at)
          else \(score.last_submitted_at) end
        """
      },
    ],
    access: Access(sees: { score, caller in isVisible(score.hunt_id, caller) }))

  /// Whether the caller sees the hunt: its creator, its participants, the members of its group.
  static func isVisible(_ hunt: SQL, _ caller: Caller) -> SQL {
    """
    \(hunt) in (select own.id from hunt own where own.created_by = \(caller.id)
      union all \(joined(caller))
      union all select shared.id from hunt shared where shared.group_id in (\(list: caller.groups)))
    """
  }

  /// Whether the caller sees what a user has submitted at the checkpoint: the hunt's creator and its participants,
  /// unless there is a block between the two.
  static func isSubmissionVisible(_ checkpoint: SQL, of user: SQL, _ caller: Caller) -> SQL {
    """
    \(checkpoint) in (select c.id from hunt_checkpoint c where \(areSubmissionsVisible(in: "c.hunt_id", caller)))
      and \(isUnblocked(user, caller))
    """
  }

  /// Whether the caller sees what is submitted in the hunt by those from whom no block keeps them apart.
  static func areSubmissionsVisible(in hunt: SQL, _ caller: Caller) -> SQL {
    """
    \(hunt) in (select own.id from hunt own where own.created_by = \(caller.id)
      union all \(joined(caller)))
    """
  }

  /// Whoever is kept apart from more people than groups names sees nobody: anyone may be one of the others.
  private static func isUnblocked(_ user: SQL, _ caller: Caller) -> SQL {
    guard caller.blocked.count < MemberOfGroups.blockedMax else { return "\(user) = \(caller.id)" }
    return caller.blocked.isEmpty ? "true" : "\(user) not in (\(list: caller.blocked))"
  }

  /// The hunts in which the caller takes part: by the hunt's code, or as a member of its group.
  private static func joined(_ caller: Caller) -> SQL {
    """
    select mine.hunt_id from hunt_participant mine
    where mine.user_id = \(caller.id) and (mine.group_id is null or mine.group_id in (\(list: caller.groups)))
    """
  }

  private static func checkpointCount(of hunt: SQL) -> SQL {
    "select count(*) from hunt_checkpoint c where c.hunt_id = \(hunt)"
  }

  private static let isInOwnDraft: RowExpression = { checkpoint, caller in
    """
    exists (select 1 from hunt h
      where h.id = \(checkpoint.hunt_id) and h.created_by = \(caller.id) and h.status = 'draft')
    """
  }
}
