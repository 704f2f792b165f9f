import Foundation
import Testing

@testable import KithClient

/// Conflicts that must reach the user, whatever happens meanwhile.
@Suite struct OfflineConflictTests {
  private static let times =
    #""created_at":"2025-10-14T21:12:03.693Z","updated_at":"2025-10-14T21:12:03.693Z""#

  private static func task(_ title: String, version: Int) -> String {
    #"{"id":7,"list_id":1,"title":"\#(title)","version":\#(version),\#(times)}"#
  }

  /// `@unchecked Sendable`: the members are only used under the lock.
  private final class Server: @unchecked Sendable {
    private let lock = NSLock()
    private var isAway = false
    private var isChanged = false

    func leave(_ isAway: Bool) { lock.withLock { self.isAway = isAway } }
    func change() { lock.withLock { isChanged = true } }

    func answer(_ request: HTTPRequest) throws -> HTTPResponse {
      let (isAway, isChanged) = lock.withLock { (self.isAway, self.isChanged) }
      let task =
        isChanged ? OfflineConflictTests.task("Cream", version: 2) : OfflineConflictTests.task("Milk", version: 1)
      switch (request.method, request.url.path) {
      case ("PATCH", _): return .refusal(412, "precondition_failed")
      case ("GET", "/api/v1/tasks/7"): return .json(#"{"task":\#(task)}"#)
      // What was changed is sent, and then the network is lost.
      case _ where isAway: throw NoAnswer("offline")
      case ("GET", "/api/v1/lists"):
        return .json(#"{"lists":[{"id":1,"name":"Us",\#(OfflineConflictTests.times)}],"cursor":"1"}"#)
      default: return .json(#"{"tasks":[\#(task)],"cursor":"1"}"#)
      }
    }
  }

  @Test func aConflictIsToldAfterALostNetworkAndARestart() async throws {
    let server = Server()
    let (client, transport) = try await KithClient.scripted { request, _ in try server.answer(request) }
    let file = URL.temporaryFile
    let first = OfflineLists(client: client, file: file)
    try await first.sync()
    let milk = try #require(await first.tasks(in: .server(1)).first)
    try await first.change(milk, TaskFields(title: "Oat milk"))
    #expect(await first.tasks(in: .server(1)).map(\.title) == ["Oat milk"])
    server.change()
    server.leave(true)
    await #expect(throws: KithFailure.unreachable("offline")) { try await first.sync() }
    #expect(transport.requests.first { $0.method == "PATCH" }?.headers["If-Match"] == "\"1\"")

    server.leave(false)
    let second = OfflineLists(client: client, file: file)
    let conflict = OfflineConflict(reason: .changedByOthers(fields: ["title"]), title: "Milk")
    #expect(try await second.sync().conflicts == [conflict])
    #expect(try await second.sync().conflicts.isEmpty)
    #expect(await second.tasks(in: .server(1)).map(\.title) == ["Cream"])
    #expect(transport.requests.filter { $0.method == "PATCH" }.count == 1)
  }
}
