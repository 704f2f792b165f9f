import Wire

@testable import Timepoints

extension Rows {
  /// 50,000 timepoints of 5,000 users, one in ten of them failed and one in five private, with their events, charges
  /// that were settled, and as many conversations.
  static let timepoints = Rows(service: "timepoints", migrations: timepointsMigrations) { rows in
    [
      """
      insert into timepoint (id, owner_id, query, slug, status, visibility, preset, scene, failure, sequence_id,
        parent_id, direction, created_at, ended_at)
      select \(rows.id("n", Kind.timepoint)), \(rows.id("n % 5000 + 1")), 'query ' || n, 'slug-' || n,
        case when n % 10 = 0 then 'failed' else 'completed' end, case when n % 5 = 1 then 'private' else 'public' end,
        'balanced', case when n % 10 <> 0 then '\(scene)' end,
        case when n % 10 = 0 then '{"kind":"badGateway","code":"provider_failed","message":"It failed."}' end,
        \(rows.id("n", Kind.timepoint)), case when n > 1 then \(rows.id("n / 2", Kind.timepoint)) end,
        case when n > 1 then 'next' end, \(rows.ago("n * 60")), \(rows.ago("n * 60 - 30"))
      from \(rows.numbers(50_000))
      """,
      """
      insert into generation_event (timepoint_id, number, name, event)
      select \(rows.id("(n - 1) / 2 + 1", Kind.timepoint)), (n - 1) % 2 + 1,
        case when n % 2 = 1 then 'initialization' else 'done' end, '{}'
      from \(rows.numbers(100_000))
      """,
      """
      insert into charge (id, user_id, operation, reference_id, state, hold_id, cost, lifetime_seconds, created_at,
        settled_at)
      select \(rows.id("n", Kind.hold)), \(rows.id("n % 5000 + 1")), 'chat', \(rows.id("n", Kind.timepoint)),
        'captured', \(rows.id("n", Kind.hold)), 1, 3600, \(rows.ago("n * 2")), \(rows.ago("n * 2"))
      from \(rows.numbers(50_000))
      """,
      """
      insert into charge (id, user_id, operation, reference_id, state, hold_id, cost, lifetime_seconds, created_at,
        due_at)
      select \(rows.id("100000 + n", Kind.hold)), \(rows.id("n")), 'chat', \(rows.id("n", Kind.timepoint)),
        case when n % 2 = 0 then 'opening' else 'held' end,
        case when n % 2 = 1 then \(rows.id("100000 + n", Kind.hold)) end, case when n % 2 = 1 then 1 end, 3600,
        \(rows.ago("120")), \(rows.ago("60"))
      from \(rows.numbers(10))
      """,
      """
      insert into character_chat (id, user_id, timepoint_id, character_name, message_count, created_at, updated_at)
      select \(rows.id("n", Kind.session)), \(rows.id("n % 5000 + 1")), \(rows.id("n", Kind.timepoint)), 'Somebody', 2,
        \(rows.ago("n * 60")), \(rows.ago("n * 60"))
      from \(rows.numbers(50_000))
      """,
      """
      insert into character_chat_message (chat_id, number, role, content, created_at)
      select \(rows.id("(n - 1) / 2 + 1", Kind.session)), (n - 1) % 2 + 1,
        case when n % 2 = 1 then 'user' else 'character' end, 'words', \(rows.ago("n * 30"))
      from \(rows.numbers(100_000))
      """,
      rows.sentMessages(50_000), rows.idempotencyKeys(50_000),
    ]
  }

  /// As the service stores it, without quotation marks of SQL.
  private static let scene: String = {
    let scene = GeneratedScene(
      title: "A scene",
      timeline: Timeline(year: 1903, timeOfDay: "morning", era: "modern", location: "A beach", historicalContext: "-"),
      scene: SceneSetting(
        setting: "-", atmosphere: "-", weather: "-", lighting: "-", sounds: [], smells: [], objects: []),
      characters: [], graph: CharacterGraph(relationships: []),
      moment: Moment(summary: "-", before: "-", after: "-", stakes: "-", tension: "-", emotionalBeats: []),
      camera: Camera(shot: "-", angle: "-", focalPoint: "-", composition: "-"), dialog: [],
      grounding: Grounding(verifiedFacts: [], assumptions: [], confidence: 1),
      imagePrompt: ImagePrompt(prompt: "-", style: "-"), image: nil, textModel: "model", imageModel: nil)
    return (try? JSON.encode(scene)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }()
}
