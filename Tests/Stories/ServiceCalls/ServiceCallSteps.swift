import Clients
import Foundation
import Support
import Web
import Wire

/// All that services say to one another, in an order in which it makes sense.
let serviceCallSteps: [ServiceCallStep] =
  userSteps + groupSteps + listSteps + inviteSteps + creditSteps + eventSteps + adventureSteps + topicSteps
  + personalDataSteps

private let userSteps: [ServiceCallStep] = [
  .init(.auth, "GET /internal/users/{id}", by: "lists") { dependencies, id in
    _ = try await UsersClient(in: dependencies).profile(of: id("alice"))
  },
  .init(.auth, "GET /internal/users", by: "invites") { dependencies, id in
    _ = try await UsersClient(in: dependencies).user(withAnyID: id.text("alice"))
  },
  .init(.auth, "POST /api/v1/users/resolve", by: "sync+act") { dependencies, _ in
    _ = try await UsersClient(in: dependencies).resolve(
      .init(externalID: "auth0|frank", email: "frank@example.com", displayName: "Frank"))
  },
  .init(.auth, "POST /internal/users/identified", by: "gateway") { dependencies, _ in
    _ = try await UsersClient(in: dependencies).identify(
      .init(
        issuer: "https://issuer.example", subject: "grace", email: "grace@example.com", isEmailVerified: true,
        displayName: "Grace"))
  },
  .init(.auth, "POST /internal/users/people", by: "groups") { dependencies, id in
    _ = try await UsersClient(in: dependencies).people([id("alice")], matching: ["+15550100"])
  },
  .init(.auth, "GET /internal/users/person", by: "lists") { dependencies, _ in
    _ = try await UsersClient(in: dependencies).person(named: "alice@example.com")
  },
  .init(.auth, "GET /internal/sessions/ended", by: "gateway") { dependencies, _ in
    _ = try await UsersClient(in: dependencies).endedSessions(since: nil)
  },
]

private let groupSteps: [ServiceCallStep] = [
  .init(.groups, "GET /internal/groups/{group}/members/{user}", by: "invites") { dependencies, id in
    _ = try await GroupsClient(in: dependencies).membership(of: id("alice"), in: id("group") as GroupID)
  },
  .init(.groups, "GET /internal/groups/codes/{code}", by: "invites") { dependencies, id in
    _ = try await GroupsClient(in: dependencies).group(ofCode: id.text("code"))
  },
  .init(.groups, "PUT /internal/groups/{group}/members/{user}", by: "invites") { dependencies, id in
    _ = try await GroupsClient(in: dependencies).join(
      id("group") as GroupID, id("bob"),
      by: .init(
        inviteID: .new(at: dependencies.now()), claimID: .new(at: dependencies.now()), invitedBy: id("alice"),
        madeAt: dependencies.now(), isLink: false))
  },
  .init(.groups, "POST /internal/groups/{group}/members", by: "invites") { dependencies, id in
    _ = try await GroupsClient(in: dependencies).add(
      .init(users: [try id("carol")], addedBy: id("alice")), to: id("group"), idempotencyKey: "add-carol")
  },
  .init(.groups, "POST /internal/groups/{group}/departed", by: "invites") { dependencies, id in
    _ = try await GroupsClient(in: dependencies).departed(
      among: .init(users: [try id("dave")], addedBy: id("alice")), from: id("group"))
  },
  .init(.groups, "GET /internal/users/{id}/groups", by: "adventures") { dependencies, id in
    _ = try await GroupsClient(in: dependencies).member(id("alice"))
  },
  .init(.groups, "POST /internal/groups/relations", by: "lists") { dependencies, id in
    _ = try await GroupsClient(in: dependencies).relations(of: id("alice"), to: [id("bob")])
  },
  .init(.groups, "GET /internal/collections/{collection}/members/{user}", by: "invites") { dependencies, id in
    _ = try await GroupsClient(in: dependencies).membership(of: id("alice"), in: id("collection") as CollectionID)
  },
  .init(.groups, "PUT /internal/collections/{collection}/members/{user}", by: "invites") { dependencies, id in
    _ = try await GroupsClient(in: dependencies).join(
      id("collection") as CollectionID, id("bob"),
      by: .init(inviteID: .new(at: dependencies.now()), invitedBy: id("alice"), role: .viewOnly))
  },
  .init(.groups, "POST /internal/storage/delete", by: "adventures") { dependencies, id in
    let owner: UserID = try id("alice")
    guard let photo = StoredObjectName(.photos, owner: owner, parts: ["door.jpg"]) else { return }
    try await StorageClient(in: dependencies).delete([photo], of: owner)
  },
]

private let listSteps: [ServiceCallStep] = [
  .init(.lists, "GET /internal/lists/{list}/members/{user}", by: "invites") { dependencies, id in
    _ = try await ListsClient(in: dependencies).membership(of: id("alice"), in: id.list)
  },
  .init(.lists, "PUT /internal/lists/{list}/members/{user}", by: "invites") { dependencies, id in
    _ = try await ListsClient(in: dependencies).join(
      id.list, id("bob"),
      by: .init(
        inviteID: "1", claimID: .new(at: dependencies.now()), invitedBy: id("alice"), madeAt: dependencies.now(),
        role: "editor"))
  },
  .init(.lists, "POST /internal/lists/relations", by: "groups") { dependencies, id in
    _ = try await ListsClient(in: dependencies).relations(of: id("alice"), to: [id("bob")])
  },
]

private let inviteSteps: [ServiceCallStep] = [
  .init(.invites, "POST /internal/invites/lists", by: "lists") { dependencies, id in
    _ = try await InvitesClient(in: dependencies).invite(
      .init(list: id.list, role: "viewer", invitedBy: id("alice"), invitee: .email("henry@example.com")))
  },
  .init(.invites, "POST /internal/invites/texts", by: "groups") { dependencies, id in
    _ = try await InvitesClient(in: dependencies).sendText(
      .init(group: id("group"), invitedBy: id("alice"), number: "+4915112345678", clientAddress: "192.0.2.1"))
  },
]

private let creditSteps: [ServiceCallStep] = [
  .init(.credits, "GET /internal/credits/check", by: "timepoints") { dependencies, id in
    _ = try await CreditsClient(in: dependencies).check(id("alice"), cost: 5)
  },
  .init(.credits, "POST /internal/credits/grant", by: "invites") { dependencies, id in
    _ = try await CreditsClient(in: dependencies).grant(
      .init(userID: id("alice"), amount: 20, transactionType: "bonus", description: "Welcome", idempotencyKey: "grant"))
  },
  .init(.credits, "POST /internal/credits/spend", by: "timepoints") { dependencies, id in
    _ = try await CreditsClient(in: dependencies).spend(
      .init(
        userID: id("alice"), cost: 1, transactionType: "chat", description: "A chat", referenceID: "scene",
        referenceType: "timepoint", idempotencyKey: "spend"))
  },
  .init(.credits, "POST /internal/credits/holds", by: "timepoints", gives: ["hold": "id"]) { dependencies, id in
    _ = try await CreditsClient(in: dependencies).hold(hold("hold", of: id("alice")))
  },
  .init(.credits, "POST /internal/credits/holds/{id}/capture", by: "timepoints") { dependencies, id in
    _ = try await CreditsClient(in: dependencies).capture(id("hold"))
  },
  .init(.credits, "POST /internal/credits/holds", by: "timepoints", gives: ["released": "id"]) { dependencies, id in
    _ = try await CreditsClient(in: dependencies).hold(hold("other", of: id("alice")))
  },
  .init(.credits, "POST /internal/credits/holds/{id}/release", by: "timepoints") { dependencies, id in
    _ = try await CreditsClient(in: dependencies).release(id("released"))
  },
]

private func hold(_ key: String, of user: UserID) -> OpenCreditHold {
  OpenCreditHold(
    userID: user, operation: "generate_balanced", referenceID: "scene", referenceType: "timepoint",
    idempotencyKey: key, expiresIn: 600)
}

private let eventSteps: [ServiceCallStep] = [
  .init(.events, "POST /internal/events", by: "lists") { dependencies, id in
    let (now, list, lists) = (dependencies.now(), try id.list, id.filled("lists:{list}"))
    let alice: UserID = try id("alice")
    let event = FeedEvent(
      id: .new(at: now), topics: [lists], name: "task_changed", payload: ["list_id": .integer(list), "task_id": 7],
      at: now,
      change: RowChange(
        table: "tasks", type: .update, record: ["id": 7, "title": "Milk", "due_at": nil], oldRecord: ["id": 7]),
      access: [AccessChange(topic: lists, user: try id("bob"), mayRead: false)], hiddenFrom: [try id("carol")],
      push: PushDetails(
        recipients: [alice], readersOf: lists, actor: alice, subject: "Milk", expiresAt: now + 3600))
    _ = try await EventsClient(in: dependencies).deliver([
      String(decoding: try JSON.encodeExact(event), as: UTF8.self)
    ])
  },
  .init(.events, "POST /internal/devices", by: "groups") { dependencies, id in
    let now = dependencies.now()
    try await EventsClient(in: dependencies).take(over: [
      TransferredDevice(
        id: .new(at: now), user: id("alice"), token: String(repeating: "ab", count: 32), platform: "ios",
        bundleID: "com.example.kith", name: "Alice's phone", osVersion: "26.1", appVersion: "1.2", createdAt: now,
        updatedAt: now)
    ])
  },
]

private let adventureSteps: [ServiceCallStep] = [
  .init(.adventures, "POST /internal/groups/{group}/departures", by: "groups") { dependencies, id in
    try await AdventuresClient(in: dependencies).updateMemberships(of: [id("dave")], in: id("group"))
  },
  .init(.adventures, "POST /internal/adventures/blocks", by: "groups") { dependencies, id in
    try await AdventuresClient(in: dependencies).updateBlock(.init(one: id("alice"), other: id("dave")))
  },
  .init(.adventures, "POST /internal/adventures/shown-photo", by: "groups") { dependencies, id in
    guard let photo = StoredObjectName(.photos, owner: try id("alice"), parts: ["door.jpg"]) else { return }
    _ = try await AdventuresClient(in: dependencies).shows(photo, to: id("bob"))
  },
]

private let topicSteps: [ServiceCallStep] = [
  (ServiceName.lists, "lists:{list}"), (.groups, "social_groups:{group}"), (.adventures, "scavenger_hunts:{hunt}"),
].flatMap { service, topic in
  let steps: [ServiceCallStep] = [
    .init(service, "GET /internal/topics/access", by: "events") { dependencies, id in
      _ = try await TopicAccessClient([service], in: dependencies).access(
        of: id("alice"), to: id.filled(topic), at: service)
    },
    .init(service, "GET /internal/topics", by: "events") { dependencies, id in
      _ = try await TopicAccessClient([service], in: dependencies).readableTopics(of: id("alice"), at: service)
    },
    .init(service, "GET /internal/topics/readers", by: "events") { dependencies, id in
      _ = try await TopicAccessClient([service], in: dependencies).readers(of: id.filled(topic), at: service)
    },
  ]
  return service == .adventures ? steps.dropLast() : steps
}

private let personalDataSteps: [ServiceCallStep] = ServiceName.bundled.filter { $0 != .auth }.flatMap { service in
  [
    ServiceCallStep(service, "GET /internal/users/{id}/data", by: "auth") { dependencies, id in
      _ = try await PersonalDataClient(service, in: dependencies).export(id("dave"))
    },
    ServiceCallStep(service, "DELETE /internal/users/{id}/data", by: "auth") { dependencies, id in
      try await PersonalDataClient(service, in: dependencies).erase(id("dave"))
    },
  ]
}
