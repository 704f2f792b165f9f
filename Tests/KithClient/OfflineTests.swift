import Database
import Foundation
import Support
import Testing

@testable import KithClient

/// Lists that are changed without a network.
@Suite struct OfflineTests {
  private static func file() -> URL {
    FileManager.default.temporaryDirectory.appendingPathComponent("kith-\(UUID().uuidString)/lists.json")
  }

  /// A second client of the same account, as on another device.
  private func otherDevice(of name: String, in stack: TestStack) async throws -> KithClient {
    let client = try stack.kithClient()
    try await client.auth.signIn(email: "\(name)@example.com", password: "correct horse")
    return client
  }

  @Test(arguments: engines) func theQueuesOfTwoDevicesConverge(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let phone = OfflineLists(client: try await stack.signedUpClient("alice"), file: Self.file())
      let tablet = OfflineLists(client: try await otherDevice(of: "alice", in: stack), file: Self.file())
      let list = try await phone.createList(name: "Groceries")
      _ = try await phone.createTask(TaskFields(title: "Milk", note: "Oat"), in: list)
      _ = try await phone.createTask(TaskFields(title: "Bread"), in: list)
      #expect(await phone.tasks(in: list).allSatisfy(\.isPending))
      #expect(try await phone.sync().sentCount == 3)
      try await tablet.sync()
      let onTablet = try #require(await tablet.lists.first).id

      // Both are offline, and change the same task and different ones.
      let milkOnPhone = try await phone.task("Milk", in: list)
      let milkOnTablet = try await tablet.task("Milk", in: onTablet)
      try await phone.change(milkOnPhone, TaskFields(title: "Milk, two litres"))
      try await tablet.change(milkOnTablet, TaskFields(title: "Cream", starred: true))
      try await tablet.delete(try await tablet.task("Bread", in: onTablet))
      try await phone.complete(try await phone.task("Bread", in: list))
      _ = try await phone.createTask(TaskFields(title: "Eggs"), in: list)
      _ = try await tablet.createTask(TaskFields(title: "Tea"), in: onTablet)
      #expect(await tablet.tasks(in: onTablet).map(\.title) == ["Cream", "Tea"])

      #expect(try await phone.sync().conflicts.isEmpty)
      let report = try await tablet.sync()
      #expect(
        report.conflicts == [OfflineConflict(reason: .changedByOthers(fields: ["title"]), title: "Milk")])
      try await phone.sync()
      let shown = await phone.tasks(in: list).map(\.content)
      #expect(shown == (await tablet.tasks(in: onTablet).map(\.content)))
      #expect(shown == ["Milk, two litres true false", "Eggs false false", "Tea false false"])
      #expect(await phone.pendingCount == 0)
    }
  }

  @Test(arguments: engines) func aQueueSurvivesARestartAndIsSentOnce(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (client, file) = (try await stack.signedUpClient("alice"), Self.file())
      let first = OfflineLists(client: client, file: file)
      let list = try await first.createList(name: "Groceries")
      let id = try await first.createTask(TaskFields(title: "Milk"), in: list)
      let copy = file.deletingLastPathComponent().appendingPathComponent("copy.json")
      try FileManager.default.copyItem(at: file, to: copy)

      let second = OfflineLists(client: client, file: file)
      #expect(await second.tasks(in: list).map(\.title) == ["Milk"])
      try await second.complete(try await second.task("Milk", in: list))
      try await second.sync()
      #expect(await second.tasks(in: list).map(\.id) == [id])

      // The app was killed after the server had answered, and before that was stored.
      let third = OfflineLists(client: client, file: copy)
      try await third.sync()
      #expect(await third.tasks(in: list).map(\.content) == ["Milk false true"])
      #expect(try await client.lists.all().count == 1)
      #expect(await third.lists.count == 1)
    }
  }

  @Test(arguments: engines) func whatTheServerRefusesIsReportedAndTheRestIsSent(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signedUpClient("alice")
      let bob = try await stack.signedUpClient("bob")
      let list = try await alice.lists.create(name: "Groceries")
      let link = try await alice.invites.createLink(to: list.id, role: .editor)
      _ = try await bob.invites.acceptList(code: link.code)
      _ = try await alice.tasks.create(TaskFields(title: "Milk"), in: list.id)
      let offline = OfflineLists(client: bob, file: Self.file())
      try await offline.sync()
      try await offline.complete(try await offline.task("Milk", in: .server(list.id)))
      _ = try await offline.createList(name: "My own")
      let membership = try #require(try await alice.lists.memberships(of: list.id).first)
      _ = try await alice.lists.change(membership.id, of: list.id, to: .viewer)
      let report = try await offline.sync()
      #expect(report.conflicts == [OfflineConflict(reason: .refused(code: "viewers_only_read"), title: "Milk")])
      #expect(await offline.lists.map(\.name).sorted() == ["Groceries", "My own"])
      #expect(await offline.tasks(in: .server(list.id)).map(\.isDone) == [false])

      try await alice.lists.delete(list.id)
      try await offline.sync()
      #expect(await offline.lists.map(\.name) == ["My own"])
    }
  }
}

extension OfflineLists {
  fileprivate func task(_ title: String, in list: OfflineList.ID) throws -> OfflineTask {
    guard let task = tasks(in: list).first(where: { $0.title == title }) else {
      throw Unexpected(reply: "no \(title)")
    }
    return task
  }
}

extension OfflineTask {
  fileprivate var content: String { "\(title) \(starred) \(isDone)" }
}
