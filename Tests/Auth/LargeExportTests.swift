import AsyncHTTPClient
import Database
import Foundation
import Hummingbird
import NIOCore
import NIOFoundationCompat
import Support
import Synchronization
import Testing
import Web
import Wire

/// Exports of users of whom a service keeps more than auth could hold.
@Suite struct LargeExportTests {
  @Test func aLargeExportArrivesWhole() async throws {
    try await withStack(.sqlite) { stack in
      let alice = try await stack.signIn("alice")
      let before = try await alice.browser.get("/api/v1/users/me/export")
      let service = LargeExportService(member: "saved_places", blockCount: 1100)
      try await withService(service, as: .adventures, stack) {
        let response = try await export(of: alice, stack)
        #expect(response.status.code == 200 && response.headers.first(name: "content-length") == nil)
        let body = Data(buffer: try await response.body.collect(upTo: 128 * 1024 * 1024))
        #expect(body.count > 64 * 1024 * 1024)
        let start = try #require(body.range(of: Data("\"data\":{\"adventures\":".utf8))).upperBound
        let end = start + service.text.count
        #expect(body[start..<end] == service.text)
        // The rest is the export as it is when it is small.
        let rest = try JSON.decode(JSONValue.self, from: body[..<start] + Data("null".utf8) + body[end...])
        let small = try JSON.decode(JSONValue.self, from: before.body)
        #expect(rest["credit_history"] == small["credit_history"] && rest["identities"] == small["identities"])
        #expect(rest["data"]?["lists"] == small["data"]?["lists"] && rest["data"]?["timepoints"] != nil)
        #expect(rest["user"] == small["user"] && rest["unlinked_identities"] == .array([]))
      }
    }
  }

  /// The credits have a second place in the document, and the timepoints.
  @Test(arguments: [ServiceName.credits, .timepoints]) func aLargeAnswerStandsInBothOfItsPlaces(_ name: ServiceName)
    async throws
  {
    try await withStack(.sqlite) { stack in
      let alice = try await stack.signIn("alice")
      let member = name == .credits ? "credit_history" : "timepoints"
      let service = LargeExportService(member: member, blockCount: 20)
      try await withService(service, as: name, stack) {
        let body = try await export(of: alice, stack).body.collect(upTo: 128 * 1024 * 1024)
        let document = try JSON.decode(JSONValue.self, from: Data(buffer: body))
        let answer = try JSON.decode(JSONValue.self, from: service.text)
        #expect(document["data"]?[name.rawValue] == answer)
        #expect(document[member] == answer[member])
        // The premise: it was not kept.
        #expect(service.calls == 3)
      }
    }
  }

  @Test func aSlowReaderHoldsTheServiceBack() async throws {
    try await withStack(.sqlite) { stack in
      let alice = try await stack.signIn("alice")
      let service = LargeExportService(member: "saved_places", blockCount: 16 * 1024)
      try await withService(service, as: .adventures, stack) {
        let raw = try await RawConnection(to: stack.gateway)
        try await raw.send(
          "GET /api/v1/users/me/export HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(alice.access)\r\n\r\n")
        try await eventually("the beginning") { try await raw.received().contains("\"adventures\":") }
        try await eventually("the standstill") {
          let before = service.blocksSent
          try await Task.sleep(for: .milliseconds(500))
          return service.blocksSent == before
        }
        // The kernel's socket buffers may hold any amount, the processes between only little.
        #expect(service.blocksSent < service.blockCount / 2)
        raw.close()
        try await eventually("the end of the request") { service.cutOff == service.calls }
      }
    }
  }

  /// After the first byte nothing can be said any more: the client must not take a part for the whole.
  @Test(arguments: [0, 100]) func aServiceThatFailsOnTheWayBreaksTheExportOff(_ blocksMax: Int) async throws {
    let log = RecordedLog()
    try await withStack(.sqlite, logger: log.logger) { stack in
      let alice = try await stack.signIn("alice")
      let service = LargeExportService(member: "saved_places", blockCount: 200, blocksMax: blocksMax)
      try await withService(service, as: .adventures, stack) {
        let response = try await export(of: alice, stack)
        #expect(response.status.code == 200)
        await #expect(throws: (any Error).self) { _ = try await response.body.collect(upTo: 128 * 1024 * 1024) }
        #expect(log.all.contains { $0.level == .error && $0.text.contains("an export was broken off") })
      }
    }
  }

  @Test func whatWasRefusedBeforeTheFirstByteIsAnError() async throws {
    try await withStack(.sqlite) { stack in
      let alice = try await stack.signIn("alice")
      let service = LargeExportService(member: "saved_places", blockCount: 1100)
      try await withService(service, as: .adventures, stack) {
        stack.dependencies.serviceAddresses.set(.timepoints, to: "http://127.0.0.1:\(try freePort())")
        #expect(try await export(of: alice, stack).status.code == 503)
      }
    }
  }

  /// Members in the order of their names, and numbers as they are written elsewhere, whatever the user has sent.
  @Test(arguments: engines) func theTextOfAnExportIsThatOfAllAnswers(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let plan = #"{"title":"Coast","stops":[{"name":"A/\"b\"","at":48.20}],"route_data":{"z":1.0,"a":{"y":1e3}}}"#
      let place = #"{"name":"Cove","address":"1 Street","latitude":48.50,"longitude":-16.0}"#
      for (table, row) in [("adventure_plans", plan), ("saved_places", place)] {
        let made = try await alice.browser.send(.POST, "/rest/v1/\(table)", body: Data(row.utf8))
        #expect(made.status == 201, "\(made.text)")
      }
      _ = try await alice.browser.post("/api/v1/lists", ["list": ["name": "Marbles"]])
      let reply = try await alice.browser.get("/api/v1/users/me/export")
      #expect(reply.headers["content-length"] == ["\(reply.body.count)"])
      #expect(reply.headers["content-disposition"] == ["attachment; filename=\"export.json\""])
      #expect(reply.text.contains("Cove") && reply.text.contains("Marbles"))
      let same = try JSON.encode(JSON.decode(JSONValue.self, from: reply.body))
      #expect(String(decoding: same, as: UTF8.self) == reply.text)
    }
  }

  private func export(of user: SignedInUser, _ stack: TestStack) async throws -> HTTPClientResponse {
    var request = HTTPClientRequest(url: stack.gateway.base + "/api/v1/users/me/export")
    request.headers.add(name: "authorization", value: "Bearer \(user.access)")
    return try await Browser.client.execute(request, timeout: .seconds(120))
  }

  private func withService(
    _ service: LargeExportService, as name: ServiceName, _ stack: TestStack, _ body: () async throws -> Void
  ) async throws {
    try await running([service.server()]) {
      stack.dependencies.serviceAddresses.set(name, to: try await service.url)
      try await body()
    }
  }
}

/// Has an export of blocks of 64 KB of every user.
private final class LargeExportService: Sendable {
  private struct State {
    var calls = 0
    var blocksSent = 0
    var cutOff = 0
  }

  let blockCount: Int
  private let head: ByteBuffer
  private let block: ByteBuffer
  private let tail = ByteBuffer(string: "\"\"],\"z\":{}}")
  private let blocksMax: Int
  private let listening = ListeningPort()
  private let state = Mutex(State())

  /// - Parameter blocksMax: from the second request on the response is cut off after so many blocks; with none it is 503.
  init(member: String, blockCount: Int, blocksMax: Int = .max) {
    self.blockCount = blockCount
    self.blocksMax = blocksMax
    head = ByteBuffer(string: "{\"\(member)\":[")
    block = ByteBuffer(string: "\"\(String(repeating: "a", count: 64 * 1024 - 3))\",")
  }

  var calls: Int { state.withLock { $0.calls } }
  var blocksSent: Int { state.withLock { $0.blocksSent } }
  /// How many requests have ended before their response.
  var cutOff: Int { state.withLock { $0.cutOff } }
  var url: String { get async throws { "http://127.0.0.1:\(try await listening.number)" } }

  /// The whole answer.
  var text: Data {
    var text = Data(buffer: head)
    for _ in 0..<blockCount { text += Data(buffer: block) }
    return text + Data(buffer: tail)
  }

  func server() -> some ApplicationProtocol {
    let router = Router()
    router.get("/internal/users/{id}/data") { [self] _, _ in response() }
    return loopbackServer(router, listening)
  }

  private func response() -> Response {
    let isFirst = state.withLock { state in
      state.calls += 1
      return state.calls == 1
    }
    if !isFirst, blocksMax == 0 { return Response(status: .serviceUnavailable) }
    return Response(
      status: .ok, headers: [.contentType: "application/json"],
      body: .init { [self] writer in
        do {
          try await writer.write(head)
          for number in 0..<blockCount {
            if !isFirst, number >= blocksMax { throw Unexpected(reply: "cut off") }
            try await writer.write(block)
            state.withLock { $0.blocksSent += 1 }
          }
          try await writer.write(tail)
          try await writer.finish(nil)
        } catch {
          state.withLock { $0.cutOff += 1 }
          throw error
        }
      })
  }
}
