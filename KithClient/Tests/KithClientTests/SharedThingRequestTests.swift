import Foundation
import Testing

@testable import KithClient

/// What is sent to change what several people share: groups, lists, hunts and files.
@Suite struct SharedThingRequestTests {
  @Test func groupsAndLinks() async throws {
    try await expectRequest(
      "PUT", "/api/groups/g", #"{"name": "Us", "description": "", "time_zone": "UTC"}"#
    ) { try await $0.groups.change("g", name: "Us", description: "", timeZone: .gmt) }
    try await expectRequest("DELETE", "/api/v1/lists/1/invites") { try await $0.invites.deleteLinks(to: 1) }
    try await expectRequest("GET", "/i/ABC123/qr.png", isBearer: false) {
      _ = try await $0.invites.qrCode(of: "ABC123")
    }
    try await expectRequest("GET", "/api/v1/friends") { _ = try await $0.lists.friends() }
    try await expectRequest("DELETE", "/api/v1/friends/7") { try await $0.lists.removeFriend(7) }
  }

  @Test func tasks() async throws {
    var filter = TaskFilter()
    filter.list = 1
    filter.status = .inProgress
    filter.starred = true
    filter.assignee = "me"
    filter.dueBefore = Date(timeIntervalSince1970: 1_760_476_323)
    let target =
      "/api/v1/tasks?assigned_to=me&due_before=2025-10-14T21:12:03.000Z&list_id=1&page=2&per_page=10&starred=true"
      + "&status=in_progress"
    try await expectRequest("GET", target) { [filter] in
      _ = try await $0.tasks.mostUrgent(filter, page: 2, pageSize: 10)
    }
    try await expectRequest("POST", "/api/v1/tasks/7/nudge") { try await $0.tasks.nudge(7) }
    try await expectRequest(
      "POST", "/api/v1/lists/1/tasks/reorder",
      #"{"tasks": [{"id": 3, "after_id": null}, {"id": 1, "after_id": 3}, {"id": 2, "after_id": 1}]}"#
    ) { try await $0.tasks.arrange([3, 1, 2], in: 1) }
  }

  @Test func partsAndTags() async throws {
    try await expectRequest("GET", "/api/v1/tasks/7/subtasks") { _ = try await $0.tasks.subtasks(of: 7) }
    try await expectRequest("GET", "/api/v1/tasks/7/subtasks/8") { _ = try await $0.tasks.subtask(8, of: 7) }
    try await expectRequest(
      "POST", "/api/v1/tasks/7/subtasks", #"{"subtask": {"title": "Two litres", "client_id": "x"}}"#
    ) { _ = try await $0.tasks.addSubtask("Two litres", to: 7, clientID: "x") }
    try await expectRequest("PATCH", "/api/v1/tasks/7/subtasks/8", #"{"subtask": {"title": "One litre"}}"#) {
      _ = try await $0.tasks.changeSubtask(8, of: 7, TaskFields(title: "One litre"))
    }
    try await expectRequest("POST", "/api/v1/tasks/7/subtasks/8/complete") {
      try await $0.tasks.completeSubtask(8, of: 7)
    }
    try await expectRequest("POST", "/api/v1/tasks/7/subtasks/8/reopen") { try await $0.tasks.reopenSubtask(8, of: 7) }
    try await expectRequest("DELETE", "/api/v1/tasks/7/subtasks/8") { try await $0.tasks.deleteSubtask(8, of: 7) }
    try await expectRequest("GET", "/api/v1/tags/5") { _ = try await $0.tasks.tag(5) }
    try await expectRequest("POST", "/api/v1/tags", #"{"tag": {"name": "errands", "color": "red"}}"#) {
      _ = try await $0.tasks.createTag("errands", color: "red")
    }
    try await expectRequest("PATCH", "/api/v1/tags/5", #"{"tag": {"color": "red"}}"#) {
      _ = try await $0.tasks.changeTag(5, color: "red")
    }
    try await expectRequest("DELETE", "/api/v1/tags/5") { try await $0.tasks.deleteTag(5) }
  }

  @Test func plansPlacesAndArrivals() async throws {
    try await expectRequest(
      "PATCH", "/rest/v1/adventure_plans?id=eq.a", #"{"description": "Late", "stops": [{"name": "Coffee Shop"}]}"#
    ) { _ = try await $0.adventures.changePlan("a", description: "Late", stops: [.init(name: "Coffee Shop")]) }
    try await expectRequest(
      "PATCH", "/rest/v1/saved_places?id=eq.p", #"{"name": "Cafe", "latitude": 1.5, "longitude": 2.5}"#
    ) {
      _ = try await $0.adventures.changePlace("p", name: "Cafe", at: Coordinate(latitude: 1.5, longitude: 2.5))
    }
    try await expectRequest(
      "PATCH", "/rest/v1/eta_shares?id=eq.e", #"{"route_data": {"distance": 5}, "recipients": ["u"]}"#
    ) { _ = try await $0.adventures.changeArrival("e", route: ["distance": 5], recipients: ["u"]) }
    try await expectRequest(
      "PATCH", "/rest/v1/social_groups?id=eq.g", #"{"name": "Us", "invite_code": null}"#
    ) { _ = try await $0.adventures.changeSocialGroup("g", name: "Us", replacingCode: true) }
    try await expectRequest("DELETE", "/rest/v1/social_groups?id=eq.g") {
      try await $0.adventures.closeSocialGroup("g")
    }
    try await expectRequest("DELETE", "/rest/v1/group_members?group_id=eq.g&user_id=eq.u") {
      try await $0.adventures.removeMember("u", fromSocialGroup: "g")
    }
  }

  @Test func hunts() async throws {
    try await expectRequest(
      "PATCH", "/rest/v1/scavenger_hunts?id=eq.h",
      #"{"title": "City", "end_time": "2024-01-01T10:00:00.000Z"}"#
    ) {
      _ = try await $0.adventures.changeHunt("h", title: "City", end: Date(timeIntervalSince1970: 1_704_103_200))
    }
    try await expectRequest("DELETE", "/rest/v1/scavenger_hunts?id=eq.h") { try await $0.adventures.deleteHunt("h") }
    try await expectRequest("GET", "/rest/v1/hunt_participants?hunt_id=eq.h&order=joined_at") {
      _ = try await $0.adventures.participants(of: "h")
    }
    let door = ScavengerHunt.NewCheckpoint(title: "Red Door", points: 20)
    try await expectRequest(
      "POST", "/rest/v1/hunt_checkpoints",
      #"{"hunt_id": "h", "title": "Red Door", "photo_required": false, "points": 20}"#
    ) { _ = try await $0.adventures.addCheckpoint(door, to: "h") }
    try await expectRequest(
      "PATCH", "/rest/v1/hunt_checkpoints?id=eq.c", #"{"title": "Red Door", "photo_required": false, "points": 20}"#
    ) { _ = try await $0.adventures.changeCheckpoint("c", to: door) }
    try await expectRequest("DELETE", "/rest/v1/hunt_checkpoints?id=eq.c") {
      try await $0.adventures.deleteCheckpoint("c")
    }
    try await expectRequest("GET", "/rest/v1/checkpoint_submissions?checkpoint_id=eq.c&order=submitted_at") {
      _ = try await $0.adventures.submissions(at: "c")
    }
    try await expectRequest("PATCH", "/rest/v1/checkpoint_submissions?id=eq.s", #"{"verified": true}"#) {
      _ = try await $0.adventures.verify("s")
    }
  }

  @Test func files() async throws {
    let door = FileName("u/hunts/red door.jpg", in: .photos)
    try await expectRequest("GET", "/storage/v1/object/photos/u/hunts/red door.jpg?size=320") {
      _ = try await $0.files.data(of: door, isSmall: true)
    }
    try await expectRequest("GET", "/storage/v1/object/info/photos/u/hunts/red door.jpg") {
      _ = try await $0.files.info(of: door)
    }
    try await expectRequest("POST", "/storage/v1/object/sign/photos/u/hunts/red door.jpg", #"{"expiresIn": 60}"#) {
      _ = try await $0.files.link(to: door, expiresIn: .seconds(60))
    }
    try await expectRequest(
      "POST", "/storage/v1/object/sign/photos", #"{"expiresIn": 3600, "paths": ["u/a.jpg"]}"#
    ) { _ = try await $0.files.links(to: ["u/a.jpg"], in: .photos) }
    try await expectRequest(
      "POST", "/storage/v1/object/list/photos", #"{"prefix": "u/hunts", "limit": 100, "offset": 0}"#
    ) { _ = try await $0.files.list("u/hunts", in: .photos) }
    try await expectRequest("DELETE", "/storage/v1/object/avatars", #"{"prefixes": ["u/a.jpg"]}"#) {
      try await $0.files.delete(["u/a.jpg"], in: .avatars)
    }
    let (client, _) = try await KithClient.scripted { _, _ in
      .json(#"{"signedURL": "/object/sign/photos/u/a.jpg?token=1.2.3"}"#)
    }
    #expect(
      try await client.files.link(to: FileName("u/a.jpg", in: .photos)).absoluteString
        == "https://api.example.com/storage/v1/object/sign/photos/u/a.jpg?token=1.2.3")
    #expect(
      try client.files.publicURL(of: FileName("u/a.jpg", in: .avatars)).absoluteString
        == "https://api.example.com/storage/v1/object/public/avatars/u/a.jpg")
    #expect(throws: KithFailure.self) { try client.files.publicURL(of: door) }
  }
}
