import Database
import Foundation
import Hummingbird
import NIOCore
import NIOPosix
import Support
import Synchronization
import Testing
import Tokens
import Wire

@testable import Web

/// Requests that are responded to without a task, and those that loop routes leave to the route.
@Suite struct LoopRouteTests {
  /// A service with a route that has a loop route: `/things/{id}`, whose loop route knows some things.
  final class Service: Sendable {
    let recorded = RecordedLog()
    let (byLoop, byRoute) = (Counter(), Counter())
    let later = Mutex<[EventLoopPromise<LoopResponse?>]>([])
    static let largeBytes = 3_000_000
    private let server = Mutex<Server?>(nil)

    var port: Int { get async throws { try await server.withLock { $0 }?.port.number ?? 0 } }
    var browser: Browser { get async throws { Browser("http://127.0.0.1:\(try await port)") } }

    func run(_ body: (Service) async throws -> Void) async throws {
      try await withTestDatabase(.sqlite) { testDatabase in
        let settings = testDatabase.settings.merging(["PORT": "0", "SERVICE_KEYS": "gateway:g,plain:p"]) { $1 }
        let dependencies = Dependencies(Settings(settings), logger: recorded.logger)
        let authenticator = CallerAuthenticator(
          keys: try ServiceKeys(dependencies.settings), verifier: AccessTokenVerifier(KeyRing(.init(signing: nil))),
          ended: EndedSessionList(), now: dependencies.now, findUser: { UserID($0) })
        let server = try Server(
          .credits, in: dependencies, database: try await dependencies.openDatabase(ServiceSchema("test", [])),
          authenticator: authenticator, api: OpenAPI(yaml: Array("paths: {}".utf8))
        ) { routes in
          routes.get("/things/{id}") { [self] request, context in
            byRoute.add()
            switch context.parameters.get("id") {
            case "refused": throw Failure.notFound
            // Which of them responds depends on how much the client has taken.
            case "large": return String(repeating: "x", count: Self.largeBytes)
            default: break
            }
            return "route \(context.parameters.get("id") ?? "") \(request.uri.queryParameters["a"] ?? "-")"
          }
          routes.onLoop("/things/{id}") { [self] request in try respond(to: request) }
          routes.get("/me") { _, _ in "route" }
          routes.onLoop("/me") { request in request.user.map { .response(Self.text("loop \($0)")) } }
        }
        self.server.withLock { $0 = server }
        try await running([server]) { try await body(self) }
      }
    }

    private func respond(to request: LoopRequest) throws -> LoopResult? {
      switch request.variable {
      case "small": break
      case "large": return .response(Self.text(String(repeating: "x", count: Self.largeBytes)))
      case "refused": throw Failure.notFound
      case "later", "later-2":
        let promise = MultiThreadedEventLoopGroup.currentEventLoop!.makePromise(of: LoopResponse?.self)
        later.withLock { $0.append(promise) }
        return .later(promise.futureResult)
      case "other", "%73mall": return nil
      default: throw Failure.sessionEnded
      }
      byLoop.add()
      return .response(Self.text("loop \(request.parameters("a", "b")?.joined(separator: " ") ?? "-")"))
    }

    static func text(_ text: String) -> LoopResponse {
      LoopResponse(body: ByteBuffer(string: text))
    }
  }

  private static func get(_ path: String, _ more: String = "") -> String {
    "GET \(path) HTTP/1.1\r\nHost: a\r\n\(more)\r\n"
  }

  @Test func onlyThePlainCaseIsTaken() async throws {
    try await Service().run { service in
      let browser = try await service.browser
      for (path, expected) in [
        ("/things/small", "loop -"), ("/things/small?a=1&b=2", "loop 1 2"), ("/things/small?a=&b=", "loop  "),
        ("/things/small?b=2&a=1", "loop -"), ("/things/small?a=1&b=2&c=3", "loop -"), ("/things/small?a=1", "loop -"),
        ("/things/small?a=%31&b=2", "loop -"), ("/things/small?A=1&b=2", "loop -"),
        ("/things/small?a=1&b=2&", "loop -"),
        ("/things/small?a=1&bb=2", "loop -"), ("/things/other?a=1", "route other 1"),
        ("/things/%73mall", "route %73mall -"), ("/things/small/", "route small -"),
      ] {
        let reply = try await browser.get(path)
        #expect(reply.status == 200 && reply.text == expected, "\(path): \(reply.text)")
      }
      #expect(try await browser.get("/things/small/more").status == 404)
      #expect(try await browser.get("/things/").status == 404)
      #expect(try await browser.get("/things").status == 404)
      let taken = service.byLoop.value
      let head = try await browser.send(.HEAD, "/things/small")
      #expect(head.status == 200 && head.body.isEmpty)
      #expect(try await browser.post("/things/small").status == 404)
      #expect(service.byLoop.value == taken)
    }
  }

  @Test func itsResponsesAreLikeThoseOfTheRoute() async throws {
    try await Service().run { service in
      let browser = try await service.browser.with(["X-Request-ID": "my-id-1"])
      for path in ["/things/small", "/things/other", "/things/refused"] {
        let reply = try await browser.get(path)
        #expect(reply.headers["x-request-id"] == ["my-id-1"], "\(path)")
        #expect(reply.headers["content-length"] == [String(reply.body.count)] && reply.headers["date"].count == 1)
      }
      let refused = try await browser.get("/things/refused")
      let ours = service.byRoute.value
      // Its loop route leaves it to the route, which refuses it as well.
      let byRoute = try await browser.get("/things/refused/")
      #expect(service.byRoute.value == ours + 1)
      #expect(refused.status == 404 && refused.body == byRoute.body)
      #expect(refused.headers["content-type"] == ["application/problem+json"])
      #expect(refused.headers["cache-control"] == ["no-store"])
      let generated = try await service.browser.with(["X-Request-ID": "not valid!"]).get("/things/small")
      #expect(generated.headers.first(name: "x-request-id")?.count == 32)

      let lines = service.recorded.lines.filter { $0.contains("/things/{id}") }
      #expect(lines.count == 6 && lines.filter { $0.contains("my-id-1") }.count == 5)
      let metrics = try await service.browser.get("/metrics").text
      let count = "kith_http_requests_total{route=\"/things/{id}\",method=\"GET\",status="
      #expect(metrics.contains(count + "\"200\"} 3") && metrics.contains(count + "\"404\"} 3"), "\(metrics)")
    }
  }

  @Test func onlyWhomTheGatewayNamesIsKnown() async throws {
    try await Service().run { service in
      let user = UserID.new(at: Date()).description
      let browser = try await service.browser.with(["X-User-ID": user])
      #expect(try await browser.get("/me").text == "route")
      #expect(try await browser.with(["X-Service-Key": "g"]).get("/me").text == "loop \(user)")
      for headers in [
        ["X-Service-Key": "p"], ["X-Service-Key": "x"], ["X-Service-Key": "g", "Authorization": "Bearer x"],
        ["X-Service-Key": "g", "X-User-ID": "crm-1"],
      ] {
        #expect(try await browser.with(headers).get("/me").text == "route", "\(headers)")
      }
      let connection = try await RawConnection(port: try await service.port)
      let twice = "X-Service-Key: g\r\nX-User-ID: \(user)\r\nX-User-ID: \(user)\r\nConnection: close\r\n"
      try await connection.send(Self.get("/me", twice))
      #expect(try await connection.untilClosed().hasSuffix("\r\nroute"))
    }
  }

  @Test func requestsOfAConnectionAreRespondedToInTheirOrder() async throws {
    try await Service().run { service in
      let connection = try await RawConnection(port: try await service.port)
      let (loop, route) = (Self.get("/things/small"), Self.get("/things/other"))
      try await connection.send(
        loop + route + loop + loop + Self.get("/things/later") + loop + route + Self.get("/things/later-2") + loop
          + Self.get("/things/other", "Connection: close\r\n"))
      try await eventually("the first to come later") { service.later.withLock { $0.count } == 1 }
      #expect(service.byLoop.value == 3)
      // Left to the route after all.
      service.later.withLock { $0 }[0].succeed(nil)
      try await eventually("the second to come later") { service.later.withLock { $0.count } == 2 }
      service.later.withLock { $0 }[1].succeed(Service.text("late"))
      let bodies = try await connection.untilClosed().components(separatedBy: "HTTP/1.1 200 OK\r\n").dropFirst()
        .map { $0.components(separatedBy: "\r\n\r\n")[1] }
      #expect(
        bodies == [
          "loop -", "route other -", "loop -", "loop -", "route later -", "loop -", "route other -", "late", "loop -",
          "route other -",
        ])
    }
  }

  @Test func manyRequestsInARowLetOthersHaveTheirTurn() async throws {
    try await Service().run { service in
      let connection = try await RawConnection(port: try await service.port)
      let requests = String(repeating: Self.get("/things/small"), count: 60)
      try await connection.send(requests + Self.get("/things/other", "Connection: close\r\n"))
      let text = try await connection.untilClosed()
      #expect(text.components(separatedBy: "HTTP/1.1 200 OK\r\n").count == 62)
      #expect(service.byLoop.value + service.byRoute.value == 61)
      #expect(service.byLoop.value >= 16 && service.byRoute.value > 1, "\(service.byLoop.value)")
    }
  }

  @Test func whatFailsLaterIsAFailure() async throws {
    try await Service().run { service in
      let browser = try await service.browser
      async let first = browser.get("/things/later")
      try await eventually("the request") { service.later.withLock { $0.count } == 1 }
      service.later.withLock { $0 }[0].fail(DatabaseFailure.unavailable("gone"))
      let unavailable = try await first
      #expect(unavailable.status == 503 && unavailable.headers["content-type"] == ["application/problem+json"])
      #expect(service.recorded.lines.contains { $0.contains("database unavailable") })
      async let second = browser.get("/things/later")
      try await eventually("the request") { service.later.withLock { $0.count } == 2 }
      service.later.withLock { $0 }[1].fail(Failure.sessionEnded)
      let ended = try await second
      #expect(ended.status == 401)
    }
  }

  @Test func aClientThatHasGoneIsNoMatter() async throws {
    try await Service().run { service in
      let connection = try await RawConnection(port: try await service.port)
      try await connection.send(Self.get("/things/later") + Self.get("/things/small"))
      try await eventually("the request") { service.later.withLock { $0.count } == 1 }
      connection.close()
      try await Task.sleep(for: .milliseconds(50))
      service.later.withLock { $0 }[0].succeed(Service.text("late"))
      #expect(try await service.browser.get("/things/small").status == 200)
      #expect(service.byLoop.value == 1, "the second request of the connection is not begun")
    }
  }

  /// More than the kernel takes at once: each waits until the one before has been taken.
  @Test func aSlowClientGetsAllOfManyLargeResponses() async throws {
    try await Service().run { service in
      let connection = try await RawConnection(port: try await service.port, receiveBytes: 256 * 1024)
      let large = Self.get("/things/large")
      try await connection.send(large + large + Self.get("/things/large", "Connection: close\r\n"))
      try await Task.sleep(for: .milliseconds(100))
      let text = try await connection.untilClosed()
      let parts = text.components(separatedBy: "HTTP/1.1 200 OK\r\n").dropFirst()
      #expect(parts.count == 3)
      let counts = parts.map { $0.components(separatedBy: "\r\n\r\n")[1].utf8.count }
      #expect(counts == Array(repeating: Service.largeBytes, count: 3))
    }
  }

  @Test func anOldClientsConnectionEndsUnlessItWantsToKeepIt() async throws {
    try await Service().run { service in
      let connection = try await RawConnection(port: try await service.port)
      try await connection.send("GET /things/small HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
      try await eventually("the response") { try await connection.received().hasSuffix("loop -") }
      #expect(try await connection.received().contains("connection: keep-alive\r\n"))
      try await connection.send("GET /things/small HTTP/1.0\r\n\r\n")
      let text = try await connection.untilClosed()
      #expect(text.components(separatedBy: "loop -").count == 3 && text.contains("connection: close\r\n"))
    }
  }
}
