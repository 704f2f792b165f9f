/// An index that the contract of the tables requires, and a statement that a plan of ours executes with it.
struct RequiredIndex {
  /// Table and columns as the contract has them.
  let required: String
  /// What the statement has in it.
  let statement: String
  /// Ours that begin with these columns: either may be chosen.
  let names: [String]

  private init(_ required: String, for statement: String, _ names: String...) {
    self.required = required
    self.statement = statement
    self.names = names
  }

  /// - Parameter statements: on one line each.
  func isUsed(in statements: [(text: String, plan: String)]) -> Bool {
    statements.contains { executed in
      executed.text.contains(statement) && names.contains(where: executed.plan.contains)
    }
  }

  static let all: [RequiredIndex] = [
    .init("adventure_plans(user_id)", for: "from adventure_plan t0 where (t0.user_id = $1)", "adventure_plan_user"),
    .init("social_groups(invite_code)", for: "from social_group where invite_code = $1", "social_group_invite_code"),
    .init(
      "group_members(group_id)", for: "from membership t0 where", "membership_pkey", "membership_joined",
      "sqlite_autoindex_membership_1"),
    .init("group_members(user_id)", for: "from membership m where m.user_id = $1", "membership_user"),
    .init("scavenger_hunts(group_id)", for: "from hunt h where h.group_id = $1", "hunt_group"),
    .init("hunt_checkpoints(hunt_id)", for: "from hunt_checkpoint t0 where", "hunt_checkpoint_hunt"),
    .init(
      "checkpoint_submissions(user_id, checkpoint_id)", for: "from checkpoint_submission where user_id = $1",
      "checkpoint_submission_user"),
    .init("saved_places(user_id)", for: "from saved_place t0 where (t0.user_id = $1)", "saved_place_user"),
    .init("eta_shares(user_id)", for: "from eta_share t0 where", "eta_share_user"),
    // A row for each recipient takes the place of an array.
    .init("eta_shares(recipients)", for: "from eta_share t0 where", "eta_recipient_user"),
    // The sums of a leaderboard are kept; this one adds them up.
    .init(
      "checkpoint_submissions(checkpoint_id, user_id, submitted_at)", for: "insert into hunt_score",
      "checkpoint_submission_once", "checkpoint_submission_user"),
    // The few rows of one group are as well sorted as read in their order.
    .init(
      "group_members(group_id, joined_at)", for: "from membership t0 where", "membership_joined", "membership_pkey",
      "sqlite_autoindex_membership_1"),
    .init("eta_shares(is_active, expires_at)", for: "update eta_share set is_active = false", "eta_share_active"),
  ]
}
