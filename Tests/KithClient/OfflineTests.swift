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

  /// Two devices change the same tasks for some rounds, are restarted at any time, and lose answers.
  @Test(arguments: engines) func twoDevicesThatAreRestartedConverge(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signedUpClient("alice")
      let port = try #require(URL(string: stack.gateway.base)?.port)
      try await CuttingProxy.run(before: port, cutsInHundred: 10, seed: 5) { proxy, base in
        var random = SeededRandom(seed: 11)
        let clients = try await (0..<2).asyncMap { _ in
          let tokens = MemoryTokenStore()
          try await stack.kithClient(tokens: tokens).auth
            .signIn(email: "alice@example.com", password: "correct horse")
          return try stack.kithClient(at: base, tokens: tokens, attemptsMax: 2)
        }
        let files = [Self.file(), Self.file()]
        let list = try await alice.lists.create(name: "Groceries")
        for title in ["a", "b", "c", "d"] { _ = try await alice.tasks.create(TaskFields(title: title), in: list.id) }
        for device in 0..<2 { try await synced(OfflineLists(client: clients[device], file: files[device])) }
        var conflicts = 0
        for round in 0..<6 {
          for device in 0..<2 {
            // Each time the app is started anew.
            let lists = OfflineLists(client: clients[device], file: files[device])
            for task in await lists.tasks(in: .server(list.id)) where Int.random(in: 0..<3, using: &random) > 0 {
              switch Int.random(in: 0..<8, using: &random) {
              case 0: try await lists.complete(task)
              case 1: try await lists.reopen(task)
              case 2 where round > 3: try await lists.delete(task)
              case 3: try await lists.change(task, TaskFields(starred: Bool.random(using: &random)))
              default: try await lists.change(task, TaskFields(title: "\(task.title)\(device)\(round)"))
              }
            }
            _ = try await lists.createTask(TaskFields(title: "new \(device) \(round)"), in: .server(list.id))
          }
          for device in 0..<2 where Bool.random(using: &random) {
            conflicts += try await synced(OfflineLists(client: clients[device], file: files[device]))
          }
        }
        for device in [0, 1, 0] {
          conflicts += try await synced(OfflineLists(client: clients[device], file: files[device]))
        }
        let shown = try await files.indices.asyncMap { device in
          await OfflineLists(client: clients[device], file: files[device]).tasks(in: .server(list.id)).map(\.content)
        }
        #expect(shown[0] == shown[1])
        let server = try await alice.tasks.all(in: list.id)
          .map { "\($0.title) \($0.starred ?? false) \($0.status == "done")" }
        #expect(shown[0].sorted() == server.sorted())
        // What was made on the devices is there once.
        #expect(shown[0].filter { $0.hasPrefix("new ") }.count <= 12)
        // The premise: both have changed the same, and answers were lost.
        #expect(conflicts > 0 && proxy.lostAnswers > 0)
      }
    }
  }

  /// - Returns: how many changes could not be applied.
  @discardableResult
  private func synced(_ lists: OfflineLists) async throws -> Int {
    var conflicts = 0
    try await eventually("a synchronisation") {
      do {
        conflicts = try await lists.sync().conflicts.count
        return true
      } catch KithFailure.unreachable { return false }
    }
    return conflicts
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

extension Collection {
  fileprivate func asyncMap<Value>(_ transform: (Element) async throws -> Value) async throws -> [Value] {
    var values: [Value] = []
    for element in self { values.append(try await transform(element)) }
    return values
  }
}
