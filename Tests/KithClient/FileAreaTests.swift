import Database
import Foundation
import Support
import Testing

@testable import KithClient

/// Files, and what else of hunts, plans and tasks is not in the tests of their areas, against the real server.
@Suite struct FileAreaTests {
  @Test(arguments: engines) func aFileIsStoredLinkedAndDeleted(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.clientWithShortTokens("alice")
      let bob = try await stack.clientWithShortTokens("bob")
      let file = try await alice.files.upload(.data(SamplePhotos.jpegWithLocation), as: "hunts/door.jpg", in: .photos)
      let user = try await alice.auth.account().id
      #expect(file == FileName("\(user)/hunts/door.jpg", in: .photos))
      #expect(try await alice.files.data(of: file).starts(with: [0xFF, 0xD8]))
      #expect(try await alice.files.info(of: file).contentType == "image/jpeg")
      let taken = await #expect(throws: KithFailure.self) {
        try await alice.files.upload(.data(SamplePhotos.jpeg), as: "hunts/door.jpg", in: .photos)
      }
      #expect(taken?.code?.text == "Duplicate")
      let replaced = try await alice.files.upload(
        .data(SamplePhotos.jpeg), as: "hunts/door.jpg", in: .photos, replacing: true)
      #expect(replaced == file)
      await #expect(throws: KithFailure.self) { try await bob.files.data(of: file) }
      let link = try await alice.files.link(to: file, expiresIn: .seconds(60))
      let plain = try await URLSessionTransport().send(HTTPRequest("GET", link))
      #expect(plain.status == 200 && plain.body.starts(with: [0xFF, 0xD8]))
      #expect(
        try await alice.files.links(to: [file.path, "\(user)/none.jpg"], in: .photos).keys.sorted() == [file.path])
      #expect(try await alice.files.list(in: .photos).map(\.isFolder) == [true])
      #expect(try await alice.files.list("\(user)/hunts", in: .photos).map(\.name) == ["door.jpg"])
      try await alice.files.delete([file.path], in: .photos)
      #expect(try await alice.files.list("\(user)/hunts", in: .photos).isEmpty)

      let avatar = try await alice.files.upload(.data(SamplePhotos.jpeg), as: "me.jpg", in: .avatars)
      #expect(try await bob.files.data(of: avatar).starts(with: [0xFF, 0xD8]))
      let open = try await URLSessionTransport().send(HTTPRequest("GET", try alice.files.publicURL(of: avatar)))
      #expect(open.status == 200)
    }
  }

  @Test(arguments: engines) func aHuntIsPreparedAndItsFindsAreVerified(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alicesClient = try await stack.clientWithShortTokens("alice")
      let (alice, bobsClient) = (alicesClient.adventures, try await stack.clientWithShortTokens("bob"))
      let bob = bobsClient.adventures
      let hunt = try await alice.createHunt(title: "City", checkpoints: [.init(title: "Door", photoRequired: true)])
      let cat = try await alice.addCheckpoint(.init(title: "Cat"), to: hunt.id)
      #expect(try await alice.changeCheckpoint(cat.id, to: .init(title: "Dog", points: 5)).points == 5)
      try await alice.deleteCheckpoint(cat.id)
      #expect(try await alice.checkpoints(of: hunt.id).map(\.title) == ["Door"])
      let changed = try await alice.changeHunt(hunt.id, title: "Town", replacingCode: true)
      #expect(changed.title == "Town" && changed.inviteCode != hunt.inviteCode)
      let code = try #require(changed.inviteCode)
      _ = try await bob.joinHunt(code: code)
      #expect(try await alice.participants(of: hunt.id).count == 1)
      _ = try await alice.changeHunt(hunt.id, to: .active)
      let door = try #require(try await bob.checkpoints(of: hunt.id).first)
      let photo = try await bobsClient.files.upload(.data(SamplePhotos.jpeg), as: "door.jpg", in: .photos)
      let submission = try await bob.submit(
        door.id, photo: "https://kith.example/storage/v1/object/photos/\(photo.path)")
      #expect(try await alice.submissions(at: door.id).map(\.id) == [submission.id])
      #expect(try await alicesClient.files.data(of: photo).starts(with: [0xFF, 0xD8]))
      #expect(try await alice.verify(submission.id).verified == true)
      await #expect(throws: KithFailure.self) { try await bob.verify(submission.id, isVerified: false) }
      try await bob.leaveHunt(hunt.id)
      stack.clock.advance(by: .seconds(301))
      #expect(try await alice.participants(of: hunt.id).isEmpty)
      let draft = try await alice.createHunt(title: "Draft", checkpoints: [.init(title: "Door")])
      try await alice.deleteHunt(draft.id)
      #expect(try await alice.hunts().map(\.id) == [hunt.id])
    }
  }

  @Test(arguments: engines) func plansPlacesGroupsAndArrivalsChange(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.clientWithShortTokens("alice").adventures
      let bobsClient = try await stack.clientWithShortTokens("bob")
      let bob = try await bobsClient.auth.account().id
      let plan = try await alice.createPlan(title: "Weekend")
      let stops = [AdventurePlan.Stop(name: "Cafe", address: "1 Main St", at: Coordinate(latitude: 1, longitude: 2))]
      #expect(try await alice.changePlan(plan.id, description: "Late", stops: stops).stops == stops)
      let place = try await alice.savePlace(
        name: "Cafe", address: "1 Main St", at: Coordinate(latitude: 1, longitude: 2))
      #expect(try await alice.changePlace(place.id, name: "Tea").name == "Tea")
      let share = try await alice.shareArrival(
        route: ["distance": 5], with: [bob], until: stack.clock.now.addingTimeInterval(3600))
      #expect(try await alice.changeArrival(share.id, route: ["distance": 4]).routeData["distance"] == 4)

      let group = try await alice.createSocialGroup(name: "Us")
      _ = try await bobsClient.adventures.joinSocialGroup(code: group.inviteCode)
      let renamed = try await alice.changeSocialGroup(group.id, name: "We", replacingCode: true)
      #expect(renamed.name == "We" && renamed.inviteCode != group.inviteCode)
      try await alice.removeMember(bob, fromSocialGroup: group.id)
      #expect(try await alice.members(ofSocialGroup: group.id).count == 1)
      try await alice.closeSocialGroup(group.id)
      #expect(try await alice.socialGroups().isEmpty)
    }
  }

  @Test(arguments: engines) func tasksAreArrangedNudgedAndTagged(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signedUpClient("alice")
      let bob = try await stack.signedUpClient("bob")
      let list = try await alice.lists.create(name: "Groceries")
      let link = try await alice.invites.createLink(to: list.id, role: .editor)
      #expect(try await stack.kithClient().invites.qrCode(of: link.code).starts(with: [0x89, 0x50]))
      _ = try await bob.invites.acceptList(code: link.code)
      let milk = try await alice.tasks.create(TaskFields(title: "Milk"), in: list.id)
      let oats = try await alice.tasks.create(TaskFields(title: "Oats"), in: list.id)
      try await alice.tasks.arrange([oats.id, milk.id], in: list.id)
      #expect(try await bob.tasks.all(in: list.id).map(\.title) == ["Oats", "Milk"])
      let number = try await bob.auth.profile().id
      _ = try await alice.tasks.assign(milk.id, to: number)
      try await alice.tasks.nudge(milk.id)
      let again = await #expect(throws: KithFailure.self) { try await alice.tasks.nudge(milk.id) }
      #expect(again?.code == .known(.nudgedRecently))
      var filter = TaskFilter()
      filter.assignee = "me"
      #expect(try await bob.tasks.mostUrgent(filter).tasks.map(\.id) == [milk.id])

      let part = try await alice.tasks.addSubtask("Two litres", to: milk.id)
      #expect(try await alice.tasks.changeSubtask(part.id, of: milk.id, TaskFields(title: "One")).title == "One")
      #expect(try await bob.tasks.completeSubtask(part.id, of: milk.id).status == "done")
      #expect(try await bob.tasks.reopenSubtask(part.id, of: milk.id).status == "pending")
      #expect(try await bob.tasks.subtask(part.id, of: milk.id).title == "One")
      try await alice.tasks.deleteSubtask(part.id, of: milk.id)
      #expect(try await bob.tasks.subtasks(of: milk.id).isEmpty)

      let tag = try await alice.tasks.createTag("errands", color: "red")
      #expect(try await alice.tasks.changeTag(tag.id, name: "shopping").name == "shopping")
      #expect(try await alice.tasks.tag(tag.id).color == "red")
      try await alice.tasks.deleteTag(tag.id)
      #expect(try await alice.tasks.tags().isEmpty)
      #expect(try await alice.lists.friends().map(\.id) == [number])
      try await alice.lists.removeFriend(number)
      #expect(try await alice.lists.friends().isEmpty)
      try await alice.invites.deleteLinks(to: list.id)
      #expect(try await alice.invites.links(to: list.id).filter(\.usable).isEmpty)
    }
  }
}
