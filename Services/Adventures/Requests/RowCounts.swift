import Database
import RestQueries
import Wire

/// How many rows somebody may have: more than an app shows, and few enough to be read together.
enum RowCounts {
  static let plansMax = 1000
  static let huntsMax = 1000
  /// Of one hunt.
  static let checkpointsMax = 1000

  /// After an insert, whose transaction must not be committed when it throws.
  ///
  /// - Throws: ``RestQueries/RestFailure`` 400.
  static func requirePlans(of user: UserID, on db: any Connection) throws {
    let row = try db.row("select count(*) as count from adventure_plan where user_id = \(user)")
    try require(row, plansMax, "plans of one user")
  }

  static func requireHunts(of user: UserID, on db: any Connection) throws {
    let row = try db.row("select count(*) as count from hunt where created_by = \(user)")
    try require(row, huntsMax, "hunts of one creator")
  }

  static func requireCheckpoints(in hunt: String, on db: any Connection) throws {
    let row = try db.row("select count(*) as count from hunt_checkpoint where hunt_id = \(ID<Hunt>(hunt))")
    try require(row, checkpointsMax, "checkpoints of one hunt")
  }

  private static func require(_ counted: Row?, _ max: Int, _ what: String) throws {
    guard try counted?.get("count", as: Int.self) ?? 0 <= max else {
      throw RestFailure(400, "54000", "There are too many \(what)", details: "at most \(max)")
    }
  }
}
