import Database
import Foundation
import RestQueries
import Wire

/// Submissions: each participant's own, one for each checkpoint while the hunt runs, verified by its creator.
///
/// Throws ``BlocksNeeded`` for submissions of others than ``blocked`` has.
struct SubmissionWrites: TableWriting {
  /// In development `PUBLIC_URL`, whose files may be named although it is not https; else nil.
  let origin: String?
  /// What leaderboards show for the caller; nil where it is not known.
  let name: String?
  /// Whom blocks keep apart from others whose submissions are written.
  var blocked: [UserID: Set<UserID>] = [:]

  func write(
    _ operation: RestOperation, for caller: RestQueries.Caller, on db: any Connection, _ engine: Engine
  ) throws -> RestAnswer {
    let events = HuntEvents(caller: caller, engine: engine)
    guard operation.request.method != .patch else {
      let answer = try operation.answer(for: caller, on: db, engine)
      try events.verified(answer.changedKeys, blocked, on: db)
      return answer
    }
    try operation.require("photo_url", "must be an https URL of at most 2048 characters") { url in
      url.isPhotoURL(at: origin)
    }
    var hunts: Set<String> = []
    for row in operation.body?.rows ?? [] { hunts.insert(try hunt(of: row, for: caller, on: db)) }
    let answer = try operation.answer(for: caller, on: db, engine)
    for row in operation.body?.rows ?? [] { try SubmissionPhotos.store(namedBy: row, of: caller.id, on: db) }
    for hunt in hunts.sorted() { try Self.addUp(hunt, of: caller.id, at: caller.now, on: db) }
    try ParticipantNames.store(name, of: caller.id, at: caller.now, on: db)
    try events.submitted(answer.changedKeys.filter(answer.insertedKeys.contains), blocked, on: db)
    // The creator of a hunt may name submissions that are there.
    try events.verified(answer.changedKeys.filter { !answer.insertedKeys.contains($0) }, blocked, on: db)
    return answer
  }

  /// The hunt of a submission that may be made now. It is locked, so that it does not end meanwhile.
  ///
  /// - Throws: ``RestQueries/RestFailure`` 403 for who does not take part, 400 when the hunt is not running, or a photo
  ///   is missing.
  private func hunt(
    of row: [String: JSONTree], for caller: RestQueries.Caller, on db: any Connection
  ) throws -> String {
    guard let id = row["checkpoint_id"]?.string.flatMap({ ID<Hunt>($0) }),
      let found = try db.row("select hunt_id, photo_required from hunt_checkpoint where id = \(id)"),
      let hunt = try Hunt.lock([try found.get("hunt_id")], on: db).first,
      try ParticipantStore.isParticipant(caller.id, throughGroups: caller.groups, in: hunt.id, on: db)
    else { throw RestFailure.newRowDenied(AdventureTables.submissions.name) }
    guard hunt.isRunning(at: caller.now) else {
      throw RestFailure.huntNotRunning(hunt.isOver(at: caller.now) ? "The hunt is over" : "The hunt has not begun")
    }
    let hasPhoto = row["photo_url"] ?? .null != .null
    guard try hasPhoto || !found.get("photo_required") else {
      throw RestFailure.invalid("photo_url", "is required at this checkpoint", in: AdventureTables.submissions.name)
    }
    return hunt.id
  }

  /// Writes down what the submissions of somebody add up to. The time is that of the last one that counted: who was
  /// there first is not behind for a checkpoint without points. Those who were there in the same second are told apart
  /// by the exact time, which stays while nothing more counts.
  static func addUp(_ hunt: String, of user: UserID, at now: Date, on db: any Connection) throws {
    let id = ID<Hunt>(hunt)
    let counted: SQL = "case when c.points > 0 then s.submitted_at end"
    try db.change(
      """
      insert into hunt_score (hunt_id, user_id, score, completed_checkpoints, last_submitted_at, scored_at)
      select c.hunt_id, s.user_id, sum(c.points), count(*), max(\(counted)),
        case when sum(c.points) > 0 then \(now) else max(\(counted)) end
      from hunt_checkpoint c join checkpoint_submission s on s.checkpoint_id = c.id
      where c.hunt_id = \(id) and s.user_id = \(user) group by c.hunt_id, s.user_id
      on conflict (hunt_id, user_id) do update set score = excluded.score,
        completed_checkpoints = excluded.completed_checkpoints, last_submitted_at = excluded.last_submitted_at,
        scored_at = case when excluded.score = hunt_score.score then hunt_score.scored_at else excluded.scored_at end
      """)
  }
}

extension JSONTree {
  fileprivate func isPhotoURL(at origin: String?) -> Bool {
    guard let string, string.utf8.count <= 2048, let url = URL(string: string) else { return false }
    if let origin, string.hasPrefix("\(origin)/storage/v1/object/") { return true }
    return url.scheme?.lowercased() == "https" && url.host() != nil
  }
}
