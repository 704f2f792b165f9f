import Foundation
import NIOHTTP1
import Support

/// Who may do what with a row of alice's, of each table under `/rest/v1`.
///
/// The owner is alice, who made the row. The member is bob, who is in her group and her hunt, and whom she shares her
/// arrival time with; the removed one is dave, for whom all that has ended. The stranger is mallory.
///
/// - `read`, `count`: how many rows a condition on the row's id shows, and how many `count=exact` counts.
/// - `filter`: whether a condition on alice's id, which mallory knows, shows it.
/// - `embed`: whether it is shown within another table; 400 where there is no such relation.
/// - `insert`: a new row beside alice's, in one's own name. `forge`: in alice's name.
/// - `upsert`, `put`: alice's row with other values; `patch`, `delete`: the status, and how many rows it has changed.
///
/// 405 is a verb that the table does not have, for anybody.
enum AccessMatrix {
  static let text = """
    table                  who       read count filter embed  insert forge upsert put    patch   delete

    adventure_plans        owner     1    1     1      400    201    201   200    200    200:1   200:1
    adventure_plans        member    0    0     0      400    201    403   409    409    200:0   200:0
    adventure_plans        stranger  0    0     0      400    201    403   409    409    200:0   200:0
    adventure_plans        removed   0    0     0      400    201    403   409    409    200:0   200:0

    saved_places           owner     1    1     1      400    201    201   200    200    200:1   200:1
    saved_places           member    0    0     0      400    201    403   409    409    200:0   200:0
    saved_places           stranger  0    0     0      400    201    403   409    409    200:0   200:0
    saved_places           removed   0    0     0      400    201    403   409    409    200:0   200:0

    eta_shares             owner     1    1     1      400    201    201   200    200    200:1   200:1
    eta_shares             member    1    1     1      400    201    403   409    409    200:0   200:0
    eta_shares             stranger  0    0     0      400    201    403   409    409    200:0   200:0
    eta_shares             removed   0    0     0      400    201    403   409    409    200:0   200:0

    hunt_checkpoints       owner     1    1     1      1      201    -     200    200    200:1   200:1
    hunt_checkpoints       member    1    1     1      1      403    -     409    409    200:0   200:0
    hunt_checkpoints       stranger  0    0     0      0      403    -     409    409    200:0   200:0
    hunt_checkpoints       removed   0    0     0      0      403    -     409    409    200:0   200:0

    scavenger_hunts        owner     1    1     1      1      201    201   400    405    200:1   200:1
    scavenger_hunts        member    1    1     1      1      201    403   400    405    200:0   200:0
    scavenger_hunts        stranger  0    0     0      0      403    403   400    405    200:0   200:0
    scavenger_hunts        removed   0    0     0      0      403    403   400    405    200:0   200:0

    checkpoint_submissions owner     1    1     1      1      201    201   200    405    200:1   405
    checkpoint_submissions member    1    1     1      1      201    403   409    405    200:0   405
    checkpoint_submissions stranger  0    0     0      0      403    403   403    405    200:0   405
    checkpoint_submissions removed   0    0     0      0      403    403   403    405    200:0   405

    hunt_leaderboard       owner     1    1     1      400    405    405   405    405    405     405
    hunt_leaderboard       member    1    1     1      400    405    405   405    405    405     405
    hunt_leaderboard       stranger  0    0     0      400    405    405   405    405    405     405
    hunt_leaderboard       removed   0    0     0      400    405    405   405    405    405     405

    hunt_participants      owner     1    1     1      1      405    405   405    405    405     200:1
    hunt_participants      member    1    1     1      1      405    405   405    405    405     200:0
    hunt_participants      stranger  0    0     0      0      405    405   405    405    405     200:0
    hunt_participants      removed   0    0     0      0      405    405   405    405    405     200:0

    group_members          owner     1    1     1      1      403    409   403    405    405     200:1
    group_members          member    1    1     1      1      403    403   403    405    405     200:0
    group_members          stranger  0    0     0      0      403    403   403    405    405     200:0
    group_members          removed   0    0     0      0      403    403   403    405    405     200:0

    social_groups          owner     1    1     1      1      201    201   200    200    200:1   200:1
    social_groups          member    1    1     1      1      201    403   409    409    200:0   200:0
    social_groups          stranger  0    0     0      0      201    403   409    409    200:0   200:0
    social_groups          removed   0    0     0      0      201    403   409    409    200:0   200:0

    users                  owner     1    1     1      400    405    405   405    405    200:1   405
    users                  member    0    0     0      400    405    405   405    405    200:0   405
    users                  stranger  0    0     0      400    405    405   405    405    200:0   405
    users                  removed   0    0     0      400    405    405   405    405    200:0   405
    """

  /// What somebody is answered with.
  struct Line {
    let table: String
    let who: String
    /// By verb; without those that have a dash.
    let answers: [String: String]
  }

  static let lines: [Line] = {
    let rows = text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }.filter { !$0.isEmpty }
    let verbs = rows.first?.dropFirst(2) ?? []
    return rows.dropFirst().map { row in
      Line(
        table: row[0], who: row[1],
        answers: Dictionary(zip(verbs, row.dropFirst(2)).filter { $1 != "-" }) { first, _ in first })
    }
  }()

  static let readingVerbs = ["read", "count", "filter", "embed"]
  static let verbs = readingVerbs + ["insert", "forge", "upsert", "put", "patch", "delete"]
}

/// A row of alice's, and how somebody would try to reach it.
struct TargetRow: Sendable {
  let table: String
  let key: String
  /// The condition on its key.
  let condition: String
  /// A condition on alice's id, or on the hunt that is hers.
  let filter: String
  /// A table in which it would be embedded, with the relation.
  var embed: String?
  /// A new row beside it.
  var insert = "{}"
  var forge = "{}"
  /// The same row, with other values.
  let whole: String
  let change: String

  /// What the verb is answered with: the number of rows, or the status and the number of rows that were changed.
  func answer(to verb: String, _ user: SignedInUser) async throws -> String {
    let row = "\(table)?\(condition)"
    switch verb {
    case "read": return try await shown(user.rest(.GET, row))
    case "count":
      let reply = try await user.rest(.HEAD, row, prefer: "count=exact")
      return String(reply.headers.first(name: "content-range")?.split(separator: "/").last ?? "\(reply.status)")
    case "filter": return try await shown(user.rest(.GET, "\(table)?\(filter)"))
    case "embed": return try await shown(user.rest(.GET, embed ?? "\(row)&select=*,saved_places(*)"))
    case "insert": return "\(try await user.rest(.POST, table, insert).status)"
    case "forge": return "\(try await user.rest(.POST, table, forge).status)"
    case "upsert":
      let prefer = "resolution=merge-duplicates,return=representation"
      return "\(try await user.rest(.POST, table, whole, prefer: prefer).status)"
    case "put": return "\(try await user.rest(.PUT, "\(table)?id=eq.\(key)", whole).status)"
    case "patch": return try await changed(user.rest(.PATCH, row, change, prefer: "return=representation"))
    default: return try await changed(user.rest(.DELETE, row, prefer: "return=representation"))
    }
  }

  private func shown(_ reply: Browser.Reply) -> String {
    guard reply.status == 200 else { return "\(reply.status)" }
    return reply.text.contains(key) ? "1" : "0"
  }

  private func changed(_ reply: Browser.Reply) -> String {
    reply.status == 200 ? "200:\(reply.list.count)" : "\(reply.status)"
  }
}
