import Foundation
import Wire

/// Of which events users are notified: what about, who, and with which text.
struct PushRule: Sendable {
  /// Where an event says who is notified.
  enum Recipients: Sendable {
    /// The users whose own topics it is on.
    case topics
    /// The user whose id the payload has.
    case payload(String)
    /// Those whom its producer has named.
    case details
  }

  let event: String
  let kind: NotificationKind
  let recipients: Recipients
  /// The member of the payload with who has caused it, unless its details say so. They are not notified themselves.
  var actor: String?
  /// Whether there is a notification only if somebody else has caused it.
  var needsActor = false
  /// The member of the payload with the id of the thing that it is about. Notifications about one thing are one thread.
  let thread: String
  /// The key of the text.
  let text: String
  /// Values of one member of the payload, of which it must have one.
  var condition: (member: String, values: Set<String>)?

  static let all: [PushRule] = [
    PushRule(
      event: "first_photo_sent", kind: .newPhotos, recipients: .details, thread: "group_id", text: "first_photo"),
    PushRule(
      event: "member_joined", kind: .added, recipients: .topics, actor: "by", needsActor: true, thread: "list_id",
      text: "added_to_list"),
    PushRule(
      event: "member_joined", kind: .added, recipients: .topics, actor: "by", needsActor: true, thread: "group_id",
      text: "added_to_group"),
    PushRule(
      event: "invite_accepted", kind: .inviteAccepted, recipients: .topics, actor: "user_id", thread: "invite_id",
      text: "invite_accepted"),
    PushRule(
      event: "task_assigned", kind: .taskAssigned, recipients: .payload("assignee_id"), actor: "by",
      needsActor: true, thread: "list_id", text: "task_assigned"),
    PushRule(
      event: "task_created", kind: .taskAssigned, recipients: .payload("assignee_id"), actor: "by",
      needsActor: true, thread: "list_id", text: "task_assigned"),
    PushRule(
      event: "task_nudged", kind: .nudge, recipients: .topics, actor: "by", needsActor: true, thread: "list_id",
      text: "task_nudged"),
    PushRule(
      event: "task_due_soon", kind: .dueSoon, recipients: .topics, thread: "task_id", text: "due_soon",
      condition: ("due", ["soon"])),
    PushRule(
      event: "task_due_soon", kind: .dueSoon, recipients: .topics, thread: "task_id", text: "due_today",
      condition: ("due", ["today"])),
    PushRule(
      event: "hunt_started", kind: .huntStarted, recipients: .details, actor: "by", thread: "hunt_id",
      text: "hunt_started"),
    PushRule(
      event: "eta_shared", kind: .etaShared, recipients: .topics, actor: "user_id", needsActor: true,
      thread: "share_id", text: "eta_shared"),
    PushRule(
      event: "timepoint_ready", kind: .timepointReady, recipients: .topics, thread: "id", text: "timepoint_ready"),
    PushRule(
      event: "balance_changed", kind: .credits, recipients: .topics, thread: "type", text: "credits_purchased",
      condition: ("type", ["apple_iap", "stripe_purchase", "subscription_grant"])),
    PushRule(
      event: "token_theft_noticed", kind: .security, recipients: .topics, thread: "session_id",
      text: "token_theft_noticed"),
  ]

  private static let byEvent = Dictionary(grouping: all, by: \.event)

  static func isFor(eventsNamed name: String) -> Bool { byEvent[name] != nil }

  /// The rule for an event; nil for one of which nobody is notified.
  static func rule(for event: FeedEvent) -> PushRule? { byEvent[event.name]?.first { $0.applies(to: event) } }

  private func applies(to event: FeedEvent) -> Bool {
    guard let thread = event.payload[thread], thread != .null else { return false }
    if let condition {
      guard case .string(let value) = event.payload[condition.member], condition.values.contains(value) else {
        return false
      }
    }
    return event.push?.readersOf != nil || !users(of: event).isEmpty
  }

  /// Who is notified, in an order that is always the same.
  ///
  /// - Parameter readers: of the topic that the event's details name.
  func users(of event: FeedEvent, with readers: [UserID] = []) -> [UserID] {
    let actor = actor(of: event)
    if needsActor, actor == nil { return [] }
    let users =
      switch recipients {
      case .topics: event.topics.compactMap(Self.owner)
      case .payload(let member): [event.payload[member].flatMap(Self.user)].compactMap(\.self)
      case .details: event.push?.recipients ?? []
      }
    return Set(users + readers).filter { $0 != actor }.sorted { $0.description < $1.description }
  }

  func actor(of event: FeedEvent) -> UserID? {
    event.push?.actor ?? actor.flatMap { event.payload[$0] }.flatMap(Self.user)
  }

  /// What the text may name: not the title of a task that is hidden.
  func subject(of event: FeedEvent) -> String? {
    if let subject = event.push?.subject { return subject }
    guard let record = event.change?.record, record["hidden"] != .bool(true), case .string(let title) = record["title"]
    else { return nil }
    return title
  }

  /// The name of the thread on the device.
  func threadName(of event: FeedEvent) -> String {
    switch event.payload[thread] {
    case .integer(let id): "\(thread):\(id)"
    case .string(let id): "\(thread):\(id)"
    default: thread
    }
  }

  /// The group that users may have muted.
  func group(of event: FeedEvent) -> GroupID? {
    guard case .string(let id) = event.payload["group_id"] ?? event.change?.record?["group_id"] else { return nil }
    return GroupID(id)
  }

  private static func owner(_ topic: String) -> UserID? {
    guard case .user(let user) = TopicName(topic)?.owner else { return nil }
    return user
  }

  private static func user(_ value: JSONValue) -> UserID? {
    guard case .string(let text) = value else { return nil }
    return UserID(text.hasPrefix("user_") ? String(text.dropFirst("user_".count)) : text)
  }
}
