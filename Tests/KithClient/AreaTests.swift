import Database
import Foundation
import Support
import Testing

@testable import KithClient

/// Each area of the client, against the real server: what it sends is understood, and what it gets.
@Suite struct AreaTests {
  /// A time zone in which a day has just begun, so that what is due in an hour is due today.
  private static func midnightZone() throws -> TimeZone {
    let hour = Int(Date().timeIntervalSince1970) / 3600 % 24
    guard hour > 0 else { return .gmt }
    // In these names, positive numbers are west of Greenwich.
    return try #require(TimeZone(identifier: hour > 12 ? "Etc/GMT-\(24 - hour)" : "Etc/GMT+\(hour)"))
  }

  @Test(arguments: engines) func aPhotoGoesToAGroupThatAFriendJoinedByLink(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signedUpClient("alice")
      let bob = try await stack.signedUpClient("bob")
      let group = try await alice.groups.create(name: "The Mountain Cabin", timeZone: .gmt)
      let link = try await alice.invites.createLink(to: group, maxUses: 5)
      #expect(try await bob.invites.redeem(link.code) == JoinedGroup(groupID: group, groupName: "The Mountain Cabin"))
      #expect(try await alice.invites.links(to: group).map(\.usesCount) == [1])

      let sent = try await alice.photos.send(.data(SamplePhotos.jpegWithLocation), to: group)
      let again = await #expect(throws: KithFailure.self) {
        try await alice.photos.send(.data(SamplePhotos.jpeg), to: group)
      }
      #expect(again?.code == .known(.alreadySentToday))
      let photo = try #require(try await bob.photos.today(in: group).first)
      #expect(photo.id == sent.photoID && photo.senderName == "alice")
      #expect(try await bob.groups.all().first?.lastPhoto?.senderName == "alice")
      #expect(try await alice.groups.hasSentToday(group))
      #expect(try await bob.groups.hasSentToday(group) == false)

      try await alice.groups.change(group, name: "The Cabin")
      #expect(try await bob.groups.group(group).name == "The Cabin")
      try await bob.groups.leave(group)
      await #expect(throws: KithFailure.self) { try await bob.photos.photo(photo.id) }
      try await alice.photos.delete(photo.id)
      try await alice.groups.leave(group)
    }
  }

  @Test(arguments: engines) func aPhotoIsReadThroughItsLink(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signedUpClient("alice")
      let group = try await alice.groups.create(name: "Us", timeZone: .gmt)
      let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).heic")
      try SamplePhotos.heicWithLocation.write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }
      let sent = try await alice.photos.send(.file(file), to: group)
      let photo = try await alice.photos.photo(sent.photoID).through(stack)
      #expect(try await alice.photos.data(of: photo).starts(with: [0xFF, 0xD8]))
      #expect(try await alice.photos.data(of: photo, thumbnail: true).starts(with: [0xFF, 0xD8]))
    }
  }

  @Test(arguments: engines) func aCollectionIsSharedByLink(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signedUpClient("alice")
      let bob = try await stack.signedUpClient("bob")
      let collection = try await alice.collections.create(name: "Modern Marbles")
      let link = try await alice.invites.createShareLink(to: collection.id)
      let token = try #require(link.token)
      let stranger = try stack.kithClient()
      let shown = try await stranger.invites.resolve(token: token)
      #expect(shown.collection.name == "Modern Marbles" && shown.status == "PENDING" && shown.token == nil)
      #expect(try await bob.invites.accept(shown.id).status == "ACCEPTED")
      let twice = await #expect(throws: KithFailure.self) { try await bob.invites.accept(shown.id) }
      #expect(twice?.code == .known(.inviteProcessed))
      let member = try #require(try await alice.collections.members(of: collection.id).first { $0.role != .owner })
      #expect(try await alice.collections.change(member.id, of: collection.id, to: .editor).role == .editor)
      #expect(try await bob.collections.all().map(\.id) == [collection.id])
      #expect(try await alice.collections.rename(collection.id, to: "Old Marbles").name == "Old Marbles")
      try await alice.collections.remove(member.id, from: collection.id)
      await #expect(throws: KithFailure.self) { try await bob.collections.collection(collection.id) }
      try await alice.collections.delete(collection.id)
    }
  }

  @Test(arguments: engines) func tasksAreSharedOnAList(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signedUpClient("alice")
      let bob = try await stack.signedUpClient("bob")
      let list = try await alice.lists.create(name: "Groceries", description: "For Friday", color: "green")
      let link = try await alice.invites.createLink(to: list.id, role: .editor)
      #expect(try await bob.invites.previewList(code: link.code).list.name == "Groceries")
      #expect(try await bob.invites.acceptList(code: link.code).id == list.id)

      let due = stack.clock.now.addingTimeInterval(3600)
      let milk = try await alice.tasks.create(TaskFields(title: "Milk", note: "Oat", dueAt: due), in: list.id)
      #expect(milk.strictMode == true && milk.note == "Oat")
      let reason = await #expect(throws: KithFailure.self) {
        try await bob.tasks.reschedule(milk.id, to: due.addingTimeInterval(60))
      }
      guard case .refused(let refusal) = reason else { throw Unexpected(reply: "\(reason as Any)") }
      #expect(refusal.status == 422)
      _ = try await bob.tasks.reschedule(milk.id, to: due.addingTimeInterval(60), reason: "Closed")
      let changed = try await bob.tasks.change(milk.id, TaskFields(starred: true).emptying(.note))
      #expect(changed.note == nil && changed.starred == true)
      let stale = await #expect(throws: KithFailure.self) {
        try await alice.tasks.change(milk.id, TaskFields(title: "Cream"), version: milk.version)
      }
      #expect(stale?.code == .known(.preconditionFailed))

      let oats = try await alice.tasks.create(TaskFields(title: "Oats"), in: list.id)
      try await alice.tasks.move(milk.id, after: oats.id)
      #expect(try await bob.tasks.all(in: list.id).map(\.title) == ["Oats", "Milk"])
      let part = try await alice.tasks.addSubtask("Two litres", to: milk.id)
      try await alice.tasks.completeSubtask(part.id, of: milk.id)
      #expect(try await bob.tasks.search("milk").map(\.id) == [milk.id])
      #expect(try await alice.tasks.today(timeZone: Self.midnightZone()).dueToday.map(\.id).contains(milk.id))
      #expect(try await bob.tasks.complete(milk.id).status == "done")
      #expect(try await bob.tasks.task(milk.id).auditTrail?.last?.kind == "completed")
      #expect(try await bob.tasks.reopen(milk.id).status == "pending")
      let number = try await bob.auth.profile().id
      #expect(try await alice.tasks.assign(milk.id, to: number).assignedTo?.id == number)
      #expect(try await bob.tasks.unassign(milk.id).assignedTo == nil)
      #expect(try await bob.lists.list(list.id).role == "editor")
      let changes = try await bob.lists.changes(since: nil)
      #expect(try await bob.lists.changes(since: changes.cursor).changed.isEmpty)
      let seen = try await bob.tasks.changes(in: list.id, since: nil)
      #expect(Set(seen.changed.map(\.id)) == [milk.id, oats.id])
      let tag = try await bob.tasks.createTag("errands")
      #expect(try await bob.tasks.tags().map(\.name) == [tag.name])
      try await bob.tasks.delete(oats.id)
      let since = try await alice.tasks.changes(in: list.id, since: seen.cursor)
      #expect(since.deletedIDs == [oats.id] && since.changed.isEmpty)
      let membership = try #require(try await alice.lists.memberships(of: list.id).first)
      #expect(try await alice.lists.change(membership.id, of: list.id, to: .viewer).role == "viewer")
      let viewer = await #expect(throws: KithFailure.self) { try await bob.tasks.complete(milk.id) }
      #expect(viewer?.code == .known(.viewersOnlyRead))
      try await alice.lists.remove(membership.id, from: list.id)
      #expect(try await bob.lists.all().isEmpty)
      try await alice.lists.delete(list.id)
    }
  }

  @Test(arguments: engines) func creditsAndTheAccountAreRead(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signedUpClient("alice")
      #expect(try await alice.credits.balance().balance == 50)
      #expect(try await alice.credits.history().map(\.type) == ["signup_bonus"])
      #expect(try await alice.credits.costs()["generate_hd"] == 10)
      #expect(try await alice.billing.status().subscriptionTier == "free")
      #expect(try await alice.billing.purchases().isEmpty)
      _ = try await alice.billing.products()

      let profile = try await alice.auth.changeProfile(
        name: "Alice Example", timeZone: TimeZone(identifier: "Europe/Oslo"))
      #expect(profile.name == "Alice Example" && profile.timezone == "Europe/Oslo")
      #expect(try await alice.auth.identities().map(\.provider) == ["email"])
      try await alice.auth.changePassword(from: "correct horse", to: "a better horse")
      #expect(try await alice.auth.exportedData().count > 100)
      try await alice.auth.requestPasswordReset(email: "alice@example.com")
      let tablet = try stack.kithClient()
      try await tablet.auth.signIn(email: "alice@example.com", password: "a better horse")
      let other = try #require(try await alice.auth.deviceSessions().first { !$0.current })
      try await alice.auth.endSession(other.id)
      await #expect(throws: KithFailure.signedOut) { try await tablet.credits.balance() }
      let token = Data(repeating: 0xAB, count: 32)
      try await alice.notifications.registerDevice(token: token)
      #expect(try await alice.notifications.devices().map(\.deviceToken) == [String(repeating: "ab", count: 32)])
      try await alice.notifications.unregisterDevice(token: token)
      #expect(try await alice.notifications.devices().isEmpty)
    }
  }
}

extension Photo {
  /// The same photo with links to the gateway of the stack, whose port is not known when the service starts.
  fileprivate func through(_ stack: TestStack) -> Photo {
    func moved(_ url: URL) -> String {
      url.absoluteString.replacing("http://127.0.0.1:8080", with: stack.gateway.base)
    }
    return Photo(
      id: id, groupID: groupID, senderID: senderID, senderName: senderName, url: moved(url),
      thumbnailURL: thumbnailURL.map(moved), createdAt: createdAt, expiresAt: expiresAt)
  }
}
