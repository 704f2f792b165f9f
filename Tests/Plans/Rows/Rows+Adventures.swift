@testable import Adventures

extension Rows {
  /// 100,000 accounts with a plan, a place and a share each; 20,000 hunts with five checkpoints, and five participants
  /// who have been at one of them, with a photo.
  static let adventures = Rows(service: "adventures", migrations: adventuresMigrations) { rows in
    let hunt = rows.id("(n - 1) / 5 + 1", Kind.operation)
    return [
      """
      insert into adventure_plan (id, user_id, title, created_at, updated_at)
      select \(rows.id("n", Kind.message)), \(rows.id("n")), 'Plan', \(rows.ago("n")), \(rows.ago("n"))
      from \(rows.numbers(100_000))
      """,
      """
      insert into saved_place (id, user_id, name, latitude, longitude, created_at, updated_at)
      select \(rows.id("n", Kind.message)), \(rows.id("n")), 'Place', 1, 2, \(rows.ago("n")), \(rows.ago("n"))
      from \(rows.numbers(100_000))
      """,
      """
      insert into eta_share (id, user_id, route_data, recipients, is_active, expires_at, created_at, updated_at)
      select \(rows.id("n", Kind.message)), \(rows.id("n")), '{}', '[]', n % 100 = 0, \(rows.ago("n - 99000")),
        \(rows.ago("n")), \(rows.ago("n"))
      from \(rows.numbers(100_000))
      """,
      """
      insert into eta_recipient (share_id, user_id)
      select \(rows.id("n", Kind.message)), \(rows.id("n + 1")) from \(rows.numbers(100_000))
      """,
      """
      insert into hunt (id, created_by, title, group_id, invite_code, status, created_at, updated_at)
      select \(rows.id("n", Kind.operation)), \(rows.id("n")), 'Hunt', \(rows.id("n", Kind.group)), 'CODE' || n,
        'active', \(rows.ago("n")), \(rows.ago("n"))
      from \(rows.numbers(20_000))
      """,
      """
      insert into hunt_checkpoint (id, hunt_id, title, order_index, created_at)
      select \(rows.id("n", Kind.session)), \(hunt), 'Checkpoint', n % 5, \(rows.ago("n")) from \(rows.numbers(100_000))
      """,
      """
      insert into hunt_participant (id, hunt_id, user_id, group_id, joined_at)
      select \(rows.id("n", Kind.invite)), \(hunt), \(rows.id("n")), \(rows.id("(n - 1) / 5 + 1", Kind.group)),
        \(rows.ago("n"))
      from \(rows.numbers(100_000))
      """,
      """
      insert into checkpoint_submission (id, checkpoint_id, user_id, photo_name, submitted_at)
      select \(rows.id("n", Kind.hold)), \(rows.id("n", Kind.session)), \(rows.id("n")),
        'photos/' || cast(\(rows.id("n")) as text) || '/1.jpg', \(rows.ago("n"))
      from \(rows.numbers(100_000))
      """,
      """
      insert into hunt_score (hunt_id, user_id, score, completed_checkpoints, last_submitted_at)
      select \(hunt), \(rows.id("n")), 10, 1, \(rows.ago("n")) from \(rows.numbers(100_000))
      """,
      """
      insert into group_reader (user_id, group_id)
      select \(rows.id("n")), \(rows.id("(n - 1) / 5 + 1", Kind.group)) from \(rows.numbers(100_000))
      """,
      """
      insert into participant_name (user_id, name, fetched_at)
      select \(rows.id("n")), 'Somebody', \(rows.ago("n")) from \(rows.numbers(100_000))
      """,
      rows.sentMessages(20_000), rows.postponedMessages(200), rows.idempotencyKeys(20_000),
      rows.quotas(20_000),
    ]
  }
}
