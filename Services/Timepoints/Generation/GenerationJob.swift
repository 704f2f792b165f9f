import Database
import Foundation
import Outbox
import Wire

/// A generation that has not ended.
struct GenerationJob: Sendable {
  let id: TimepointID
  let owner: UserID
  let input: GenerationInput
  let callbackURL: String?
  let writesBlob: Bool
  let createdAt: Date
  /// Set once it has failed, before its credits are given back.
  var failure: StoredFailure?

  /// The charge of a generation has the id of its timepoint.
  var charge: ChargeID { ChargeID(id.uuid) }
}

/// All statements on `generation_job` and `generation_limit`.
enum GenerationJobStore {
  /// A worker that is alive renews its lease long before it ends.
  static let leases = LeaseTable(
    table: "generation_job", selected: "owner_id, input, callback_url, writes_blob, failure, created_at",
    leaseDuration: .seconds(30))

  /// How many of one user may wait.
  static let waitingMax = 500

  /// Whether a user may begin another one.
  static func mayBegin(_ user: UserID, on db: any Connection) throws -> Bool {
    let row = try db.row(
      """
      select count(*) as waiting from (
        select id from generation_job where owner_id = \(user) and is_queued limit \(waitingMax)) waiting
      """)
    return try row.map { try $0.get("waiting", as: Int.self) < waitingMax } ?? true
  }

  /// Makes it due, or lets it wait while `activeMax` others of its user are not ended.
  static func insert(_ job: GenerationJob, activeMax: Int, at now: Date, on db: any Connection) throws {
    try db.change(
      "insert into generation_limit (owner_id, active_count) values (\(job.owner), 0) on conflict do nothing")
    let isActive =
      try db.change(
        """
        update generation_limit set active_count = active_count + 1
        where owner_id = \(job.owner) and active_count < \(activeMax)
        """) == 1
    let input = try String(decoding: JSON.encode(job.input), as: UTF8.self)
    try db.change(
      """
      insert into generation_job (id, owner_id, is_queued, input, callback_url, writes_blob, created_at, due_at)
      values (\(job.id), \(job.owner), \(!isActive), \(input), \(job.callbackURL), \(job.writesBlob), \(job.createdAt),
        \(isActive ? now : nil))
      """)
  }

  /// Records that it has failed. Its first failure stays.
  static func recordFailure(of id: TimepointID, _ failure: StoredFailure, on db: any Connection) throws {
    let json = try String(decoding: JSON.encode(failure), as: UTF8.self)
    try db.change("update generation_job set failure = \(json) where id = \(id) and failure is null")
  }

  /// Removes a job, and makes the next one of its user due. Locks the job first, then its user's limit.
  ///
  /// - Returns: false when there is none.
  @discardableResult
  static func end(_ id: TimepointID, of owner: UserID, at now: Date, on db: any Connection) throws -> Bool {
    let row = try db.row("delete from generation_job where id = \(id) returning is_queued")
    guard let row else { return false }
    guard try !row.get("is_queued", as: Bool.self) else { return true }
    try db.change("update generation_limit set active_count = active_count where owner_id = \(owner)")
    let promoted = try db.change(
      """
      update generation_job set is_queued = false, due_at = \(now) where id = (
        select id from generation_job where owner_id = \(owner) and is_queued order by created_at, id limit 1)
      """)
    if promoted == 0 {
      try db.change(
        """
        update generation_limit set active_count = active_count - 1 where owner_id = \(owner) and active_count > 0
        """)
    }
    return true
  }

  static func erase(_ user: UserID, on db: any Connection) throws {
    try db.change("delete from generation_job where owner_id = \(user)")
    try db.change("delete from generation_limit where owner_id = \(user)")
  }
}

extension GenerationJob {
  init(_ leased: SagaRow) throws {
    let row = leased.row
    func decode<T: Decodable>(_ text: String) throws -> T { try JSON.decode(T.self, from: Data(text.utf8)) }
    guard let id = TimepointID(leased.key) else { throw DatabaseFailure.unreadable(column: "id") }
    self.init(
      id: id, owner: try row.get("owner_id"), input: try decode(try row.get("input")),
      callbackURL: try row.optional("callback_url"), writesBlob: try row.get("writes_blob"),
      createdAt: try row.get("created_at"), failure: try row.optional("failure", as: String.self).map(decode))
  }
}
