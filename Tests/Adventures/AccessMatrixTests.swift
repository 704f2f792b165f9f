import Database
import Foundation
import NIOHTTP1
import Support
import Testing

/// Every table and verb, as ``AccessMatrix`` says.
@Suite struct AccessMatrixTests {
  @Test(arguments: engines) func everybodyGetsWhatTheMatrixSays(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let world = try await World(stack)
      #expect(AccessMatrix.lines.count == 4 * world.rows.count)
      // One verb of one table is none: a checkpoint has no owner to be forged.
      #expect(AccessMatrix.lines.allSatisfy { $0.answers.count == ($0.table == "hunt_checkpoints" ? 9 : 10) })
      var before = try await world.states()
      for verb in AccessMatrix.verbs {
        let isReading = AccessMatrix.readingVerbs.contains(verb)
        // None of the others changes anything of alice's, together or in any order.
        _ = try await atOnce(3) { number in
          try await world.expectAnswers(to: verb, as: ["removed", "stranger", "member"][number])
        }
        // Reads come first: whatever they changed would be seen after the others' inserts.
        if !isReading { #expect(try await world.states() == before, "\(verb)") }
        // The owner comes last: what was refused to the others has left them something to do it with.
        try await world.expectAnswers(to: verb, as: "owner")
        if !isReading { before = try await world.states() }
      }
      for row in world.rows where row.table != "users" {
        #expect(try await stack.gateway.get("/rest/v1/\(row.table)?\(row.condition)").status == 401, "\(row.table)")
      }
    }
  }
}

/// A row of alice's in each table, and the four people.
private struct World: Sendable {
  let rows: [TargetRow]
  let people: [String: SignedInUser]
  private let alice: SignedInUser

  init(_ stack: TestStack) async throws {
    let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
    let (mallory, dave) = (try await stack.signIn("mallory"), try await stack.signIn("dave"))
    self.alice = alice
    people = ["owner": alice, "member": bob, "stranger": mallory, "removed": dave]
    let group = try await stack.makeGroup(alice, with: [bob, dave])
    let other = try await stack.makeGroup(alice, with: [bob, dave])
    let draft = try await alice.makeHunt(isActive: false, group: group.id)
    let hunt = try await alice.makeHunt(points: [20, 30, 40], group: group.id)
    try await stack.forgetGroups(of: alice, bob, mallory, dave)
    for user in [alice, bob, dave] {
      let joined = try await user.rest(.POST, "scavenger_hunts/\(hunt.id)/join")
      guard joined.status == 200 else { throw Unexpected(reply: joined.text) }
    }
    let shares = try await Self.share(alice, with: bob, dave, stack)
    rows =
      try await Self.ownRows(alice) + [shares] + Self.huntRows(alice, draft: draft, hunt)
      + Self.groupRows(alice, group, other)
    for left in [group, other] { try await alice.remove(dave, from: left) }
    try await eventually("the end of what dave saw") { try await dave.rows("scavenger_hunts").isEmpty }
  }

  /// Everything that alice reads of her rows.
  func states() async throws -> [String] {
    let (alice, rows) = (alice, rows)
    let states = try await atOnce(rows.count) { index in
      (index, try await alice.rest(.GET, "\(rows[index].table)?\(rows[index].condition)").text)
    }
    return states.sorted { $0.0 < $1.0 }.map { "\(rows[$0.0].table) \($0.1)" }
  }

  /// For each row in turn.
  func expectAnswers(to verb: String, as who: String) async throws {
    let user = try #require(people[who])
    for row in rows {
      let line = try #require(AccessMatrix.lines.first { $0.table == row.table && $0.who == who })
      guard let expected = line.answers[verb] else { continue }
      #expect(try await row.answer(to: verb, user) == expected, "\(verb) \(row.table) as \(who)")
    }
  }

  private static func ownRows(_ alice: SignedInUser) async throws -> [TargetRow] {
    var rows: [TargetRow] = []
    for (table, name) in [("adventure_plans", "title"), ("saved_places", "name")] {
      let id = try await alice.insert(table, #"{"\#(name)": "Mine"}"#).text("id")
      rows.append(
        TargetRow(
          table: table, key: id, condition: "id=eq.\(id)", filter: "user_id=eq.\(alice.id)",
          insert: #"{"\#(name)": "New"}"#, forge: #"{"\#(name)": "New", "user_id": "\#(alice.id)"}"#,
          whole: #"{"id": "\#(id)", "\#(name)": "Other"}"#, change: #"{"\#(name)": "Another"}"#))
    }
    rows.append(
      TargetRow(
        table: "users", key: "\(alice.id)", condition: "id=eq.\(alice.id)", filter: "email=eq.alice@example.com",
        whole: #"{"id": "\#(alice.id)"}"#, change: #"{"display_name": "Another"}"#))
    return rows
  }

  /// Shared with both, then with bob alone.
  private static func share(
    _ alice: SignedInUser, with bob: SignedInUser, _ dave: SignedInUser, _ stack: TestStack
  ) async throws -> TargetRow {
    let end = stack.clock.now.addingTimeInterval(3600).formatted(.iso8601)
    let members = #""route_data": {}, "recipients": ["\#(bob.id)"], "expires_at": "\#(end)""#
    let both = #"{"route_data": {}, "recipients": ["\#(bob.id)", "\#(dave.id)"], "expires_at": "\#(end)"}"#
    let id = try await alice.insert("eta_shares", both).text("id")
    let path = "eta_shares?id=eq.\(id)"
    guard try await dave.count(path) == 1 else { throw Unexpected(reply: "dave does not see the share") }
    let changed = try await alice.rest(.PATCH, path, #"{"recipients": ["\#(bob.id)"]}"#)
    guard changed.status == 200 else { throw Unexpected(reply: changed.text) }
    return TargetRow(
      table: "eta_shares", key: id, condition: "id=eq.\(id)", filter: "user_id=eq.\(alice.id)",
      insert: "{\(members)}", forge: #"{\#(members), "user_id": "\#(alice.id)"}"#,
      whole: #"{"id": "\#(id)", \#(members)}"#, change: #"{"route_data": {"duration": 1}}"#)
  }

  private static func huntRows(
    _ alice: SignedInUser, draft: TestHunt, _ hunt: TestHunt
  ) async throws -> [TargetRow] {
    let group = try await alice.rows("scavenger_hunts?id=eq.\(hunt.id)").first?.text("group_id") ?? ""
    let checkpoint = draft.checkpoints[0]
    let submission = try await alice.submit(hunt.checkpoints[0]).list.first?.text("id") ?? ""
    let participation = try await alice.rows("hunt_participants?user_id=eq.\(alice.id)").first?.text("id") ?? ""
    return [
      TargetRow(
        table: "hunt_checkpoints", key: checkpoint, condition: "id=eq.\(checkpoint)",
        filter: "hunt_id=eq.\(draft.id)", embed: "scavenger_hunts?select=hunt_checkpoints(id)",
        insert: #"{"hunt_id": "\#(draft.id)", "title": "New"}"#,
        whole: #"{"id": "\#(checkpoint)", "hunt_id": "\#(draft.id)", "title": "Other"}"#,
        change: #"{"title": "Another"}"#),
      TargetRow(
        table: "scavenger_hunts", key: draft.id, condition: "id=eq.\(draft.id)", filter: "created_by=eq.\(alice.id)",
        embed: "hunt_checkpoints?select=scavenger_hunts(id)",
        insert: #"{"title": "New", "group_id": "\#(group)"}"#,
        forge: #"{"title": "New", "created_by": "\#(alice.id)"}"#,
        whole: #"{"id": "\#(draft.id)", "title": "Other"}"#, change: #"{"title": "Another"}"#),
      TargetRow(
        table: "checkpoint_submissions", key: submission, condition: "id=eq.\(submission)",
        filter: "user_id=eq.\(alice.id)", embed: "hunt_checkpoints?select=checkpoint_submissions(id)",
        insert: #"{"checkpoint_id": "\#(hunt.checkpoints[1])"}"#,
        forge: #"{"checkpoint_id": "\#(hunt.checkpoints[2])", "user_id": "\#(alice.id)"}"#,
        whole: #"{"id": "\#(submission)", "checkpoint_id": "\#(hunt.checkpoints[0])"}"#,
        change: #"{"verified": true}"#),
      TargetRow(
        table: "hunt_leaderboard", key: "\(alice.id)", condition: "hunt_id=eq.\(hunt.id)&id=eq.\(alice.id)",
        filter: "id=eq.\(alice.id)", whole: "{}", change: #"{"score": 100}"#),
      TargetRow(
        table: "hunt_participants", key: participation, condition: "id=eq.\(participation)",
        filter: "user_id=eq.\(alice.id)", embed: "scavenger_hunts?select=hunt_participants(id)",
        insert: #"{"hunt_id": "\#(hunt.id)"}"#, forge: #"{"hunt_id": "\#(hunt.id)", "user_id": "\#(alice.id)"}"#,
        whole: #"{"id": "\#(participation)"}"#, change: "{}"),
    ]
  }

  /// Alice leaves the second group, so that bob owns it: she closes the first one afterwards.
  private static func groupRows(
    _ alice: SignedInUser, _ group: TestGroup, _ other: TestGroup
  ) async throws -> [TargetRow] {
    let path = "group_members?group_id=eq.\(other.id)&user_id=eq.\(alice.id)"
    let membership = try await alice.rows(path).first?.text("id") ?? ""
    return [
      TargetRow(
        table: "group_members", key: membership, condition: "id=eq.\(membership)", filter: "user_id=eq.\(alice.id)",
        embed: "social_groups?select=group_members(id)", insert: #"{"group_id": "\#(other.id)"}"#,
        forge: #"{"group_id": "\#(other.id)", "user_id": "\#(alice.id)", "invite_code": "\#(other.code)"}"#,
        whole: #"{"id": "\#(membership)", "group_id": "\#(other.id)"}"#, change: "{}"),
      TargetRow(
        table: "social_groups", key: group.id, condition: "id=eq.\(group.id)", filter: "created_by=eq.\(alice.id)",
        embed: "group_members?select=social_groups(id)", insert: #"{"name": "New"}"#,
        forge: #"{"name": "New", "created_by": "\#(alice.id)"}"#,
        whole: #"{"id": "\#(group.id)", "name": "Other"}"#, change: #"{"name": "Another"}"#),
    ]
  }
}
