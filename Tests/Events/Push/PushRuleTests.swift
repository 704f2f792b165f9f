import Foundation
import Support
import Testing
import Wire

@testable import Events

/// Of which events users are notified, in the shape in which their producers deliver them.
@Suite struct PushRuleTests {
  private static let now = Date(timeIntervalSince1970: 1_790_000_000)
  private static let (alice, bob, carol) = (UserID.new(at: now), UserID.new(at: now), UserID.new(at: now))

  private static func event(
    _ name: String, on topics: [String], _ payload: [String: JSONValue], push: PushDetails? = nil,
    record: [String: JSONValue]? = nil
  ) -> FeedEvent {
    FeedEvent(
      id: .new(at: now), topics: topics, name: name, payload: .object(payload), at: now,
      change: record.map { RowChange(table: "rows", type: .insert, record: .object($0)) }, push: push)
  }

  private static func text(_ user: UserID) -> JSONValue { .string(user.description) }

  /// What has happened, to bob by alice, and as what he is notified.
  private static let news: [(NotificationKind, FeedEvent)] = [
    (
      .newPhotos,
      event(
        "first_photo_sent", on: ["social_groups:1"], ["group_id": "1"],
        push: PushDetails(recipients: [bob], actor: alice))
    ),
    (
      .added,
      event(
        "member_joined", on: ["lists:7", "users:\(bob)"], ["list_id": 7, "user_id": text(bob), "by": text(alice)])
    ),
    (
      .added,
      event(
        "member_joined", on: ["social_groups:1", "users:\(bob)"],
        ["group_id": "1", "user_id": text(bob), "by": text(alice)])
    ),
    (
      .inviteAccepted,
      event("invite_accepted", on: ["users:\(bob)"], ["invite_id": "1", "user_id": text(alice)])
    ),
    (
      .taskAssigned,
      event("task_assigned", on: ["lists:7"], ["list_id": 7, "assignee_id": text(bob), "by": text(alice)])
    ),
    (
      .taskAssigned,
      event("task_created", on: ["lists:7"], ["list_id": 7, "assignee_id": text(bob), "by": text(alice)])
    ),
    (.nudge, event("task_nudged", on: ["users:\(bob)"], ["list_id": 7, "by": text(alice)])),
    (.dueSoon, event("task_due_soon", on: ["users:\(bob)"], ["task_id": 7, "due": "soon"])),
    (.dueSoon, event("task_due_soon", on: ["users:\(bob)"], ["task_id": 7, "due": "today"])),
    (
      .huntStarted,
      event("hunt_started", on: ["scavenger_hunts:1"], ["hunt_id": "1"], push: PushDetails(recipients: [bob]))
    ),
    (
      .etaShared,
      event(
        "eta_shared", on: ["eta_shares:\(alice)", "eta_shares:\(bob)"], ["share_id": "1", "user_id": text(alice)])
    ),
    (.timepointReady, event("timepoint_ready", on: ["users:\(bob)"], ["id": "1"])),
    (.credits, event("balance_changed", on: ["users:\(bob)"], ["type": "apple_iap", "amount": 5])),
    (.credits, event("balance_changed", on: ["users:\(bob)"], ["type": "stripe_purchase", "amount": 5])),
    (.security, event("token_theft_noticed", on: ["users:\(bob)"], ["session_id": "1"])),
  ]

  @Test func everyKindHasItsEvents() {
    for (kind, event) in Self.news {
      let rule = PushRule.rule(for: event)
      #expect(rule?.kind == kind && rule?.users(of: event) == [Self.bob], "\(event.name)")
    }
    #expect(Set(Self.news.map(\.0)) == Set(NotificationKind.allCases))
    #expect(Set(Self.news.map(\.1.name)) == Set(PushRule.all.map(\.event)))
  }

  /// What is alike, and no news to anybody.
  private static let noNews: [FeedEvent] = [
    event("member_joined", on: ["lists:7", "users:\(bob)"], ["list_id": 7, "user_id": text(bob), "by": text(bob)]),
    event("member_joined", on: ["collections:1", "users:\(bob)"], ["collection_id": "1", "user_id": text(bob)]),
    event("task_assigned", on: ["lists:7"], ["list_id": 7, "assignee_id": text(bob), "by": text(bob)]),
    event("task_created", on: ["lists:7"], ["list_id": 7, "assignee_id": .null, "by": text(alice)]),
    event("task_completed", on: ["lists:7"], ["list_id": 7, "assignee_id": text(bob), "by": text(alice)]),
    event("balance_changed", on: ["users:\(bob)"], ["type": "signup_bonus", "amount": 50]),
    event("balance_changed", on: ["users:\(bob)"], ["type": "chat", "amount": -8]),
    event("hunt_started", on: ["scavenger_hunts:1"], ["hunt_id": "1"], push: PushDetails(recipients: [])),
    event("eta_shared", on: ["eta_shares:\(bob)"], ["share_id": "1", "user_id": text(bob)]),
    event("eta_changed", on: ["eta_shares:\(bob)"], ["share_id": "1", "user_id": text(alice)]),
    event("session_ended", on: ["users:\(bob)"], ["session_id": "1"]),
  ]

  @Test func whatIsNoNewsNotifiesNobody() {
    for event in Self.noNews { #expect(PushRule.rule(for: event) == nil, "\(event.name)") }
  }

  @Test func readersOfATopicAreNotifiedBesideThoseWhoAreNamed() throws {
    let event = Self.event(
      "hunt_started", on: ["scavenger_hunts:1"], ["hunt_id": "1"],
      push: PushDetails(recipients: [], readersOf: "social_groups:1", actor: Self.alice),
      record: ["group_id": .string(GroupID.new(at: Self.now).description)])
    let rule = try #require(PushRule.rule(for: event))
    #expect(rule.users(of: event, with: [Self.alice, Self.bob, Self.carol]).count == 2)
    // So who has muted the group hears nothing of its hunts.
    #expect(rule.group(of: event) != nil)
  }

  /// A task that a series makes comes with its sub-tasks.
  @Test func theFirstOfSeveralRowsIsWhatItIsAbout() throws {
    func event(_ records: [[String: JSONValue]]) -> FeedEvent {
      let rows = records.map { RowChange(table: "tasks", type: .insert, record: .object($0)) }
      return FeedEvent(
        id: .new(at: Self.now), topics: ["lists:7"], name: "task_created",
        payload: .object(["list_id": 7, "assignee_id": Self.text(Self.bob), "by": Self.text(Self.alice)]), at: Self.now,
        change: rows.first, changes: Array(rows.dropFirst()))
    }
    let milk: [String: JSONValue] = ["title": "milk", "hidden": false]
    let hidden: [String: JSONValue] = ["title": "bread", "hidden": true]
    let rule = try #require(PushRule.rule(for: event([milk])))
    #expect(rule.subject(of: event([milk, hidden])) == "milk")
    #expect(rule.subject(of: event([hidden, milk])) == nil)
  }
}
