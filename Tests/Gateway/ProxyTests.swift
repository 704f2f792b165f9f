import Clients
import Foundation
import Gateway
import Hummingbird
import NIOCore
import NIOHTTP1
import Support
import Testing
import Web
import Wire

/// Forwarding between an app and a service: connections, whole requests, failures.
@Suite struct ProxyTests {
  @Test func connectionsAreKeptOnBothSides() async throws {
    try await withGateway { gateway in
      let raw = try await RawConnection(port: gateway.port)
      for number in 1...20 {
        try await raw.send("GET /echo?n=\(number) HTTP/1.1\r\nHost: x\r\n\r\n")
        try await eventually("answer \(number)") {
          try await raw.received().components(separatedBy: "HTTP/1.1 200").count == number + 1
        }
      }
      raw.close()
      #expect(gateway.service.connections == 1)
    }
  }

  @Test func requestsSentAheadAreAnsweredInTheirOrder() async throws {
    try await withGateway { gateway in
      let raw = try await RawConnection(port: gateway.port)
      let requests = (1...50).map { number in
        number.isMultiple(of: 3)
          ? "GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n" : "GET /echo?n=\(number) HTTP/1.1\r\nHost: x\r\n\r\n"
      }
      try await raw.send(requests.joined() + "GET /echo?n=last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
      let all = try await raw.untilClosed()
      let statuses = all.components(separatedBy: "HTTP/1.1 ").dropFirst().map { $0.prefix(3) }
      #expect(statuses.count == 51)
      let expected: [String] = (1...50).map { $0.isMultiple(of: 3) ? "404" : "200" } + ["200"]
      #expect(statuses.map(String.init) == expected)
      let numbers = all.components(separatedBy: "\"n\":\"").dropFirst().map { String($0.prefix { $0 != "\"" }) }
      let answered: [String] = (1...50).filter { !$0.isMultiple(of: 3) }.map { String($0) } + ["last"]
      #expect(numbers == answered)
    }
  }

  @Test func whatOnlyInsidersMaySayComesFromTheGatewayAlone() async throws {
    try await withGateway { gateway in
      let spoofed = gateway.browser.with([
        "X-User-ID": UserID.new(at: Date()).description, "X-Session-ID": "x", "X-Service-Name": "gateway",
        "X-User-Email": "a@b.c", "X-Service-Key": "forged", "X-Forwarded-For": "6.6.6.6", "X-Real-IP": "6.6.6.6",
        "Connection": "Keep-Me", "Keep-Me": "not", "Authorization": "Bearer x",
        "X-Other": "stays", "X-Request-Id": "abc",
        "Traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      ])
      let seen = try #require(try await spoofed.get("/echo?n=1")["headers"] as? [String: String])
      #expect(seen["x-service-key"] == TestStack.keys["gateway"])
      #expect(seen["x-request-id"] == "abc")
      #expect(seen["traceparent"] == "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
      #expect(seen["x-forwarded-for"] == "127.0.0.1")
      #expect(seen["x-other"] == "stays")
      for name in [
        "x-user-id", "x-session-id", "x-service-name", "x-user-email", "x-real-ip", "keep-me", "authorization",
      ] {
        #expect(seen[name] == nil, "\(name)")
      }
      let raw = try await RawConnection(port: gateway.port)
      try await raw.send("GET /echo HTTP/1.1\r\nHost: x\r\nX_User_ID: 1\r\n\r\n")
      #expect(try await raw.untilClosed().hasPrefix("HTTP/1.1 400"))
      let response = try await gateway.browser.get("/leak")
      #expect(response.status == 200)
      for name in ["x-service-key", "x-user-id", "x-ended-sessions"] { #expect(!response.headers.contains(name: name)) }
    }
  }

  @Test func aServiceThatIsDownCostsOnlyItsOwnRoutes() async throws {
    try await withGateway { gateway in
      #expect(try await gateway.browser.get("/echo?n=1").status == 200)
      let port = try freePort()
      gateway.serviceAddresses.set(.credits, to: "http://127.0.0.1:\(port)")
      await gateway.service.dropConnections()
      let isSaidAtOnce = try await isDone(within: .seconds(5)) {
        let reply = try await gateway.browser.get("/echo?n=2")
        #expect(reply.status == 503)
        #expect(reply.string("code") == "service_unavailable")
        #expect(reply.headers.first(name: "retry-after") == "1")
      }
      #expect(isSaidAtOnce)
      #expect(try await gateway.browser.get("/health/live").status == 200)
      let health = try await gateway.browser.get("/health")
      #expect(health.status == 503)
      #expect((health["services"] as? [String: String])?["credits"] == "unavailable")
    }
  }

  @Test func aServiceThatBreaksOffIsABadGatewayAndSafeRequestsAreTriedAgain() async throws {
    try await withGateway { gateway in
      #expect(try await gateway.browser.get("/echo?n=1").status == 200)
      let post = try await gateway.browser.post("/die")
      #expect(post.status == 502)
      #expect(post.string("code") == "bad_gateway")
      #expect(gateway.service.abortedRequests == 1)
      _ = try await gateway.browser.get("/echo?n=1")
      // On a reused connection a GET is retried, and only once. The client may repeat it.
      let get = try await gateway.browser.get("/die")
      #expect(get.status == 503)
      #expect(get.headers.first(name: "retry-after") == "1")
      #expect(gateway.service.abortedRequests == 3)
    }
  }

  @Test func aServiceThatDoesNotAnswerTimesOut() async throws {
    try await withGateway { gateway in
      let reply = try await gateway.browser.get("/never")
      #expect(reply.status == 504)
      #expect(reply.string("code") == "gateway_timeout")
      try await eventually("the end of the call") { gateway.service.unansweredCutOff == 1 }
    }
  }

  @Test func whoWaitsToBeToldToGoOnIsToldSoOrCutOff() async throws {
    try await withGateway { gateway in
      let raw = try await RawConnection(port: gateway.port)
      let head = "HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"
      try await raw.send("POST /small \(head)")
      try await eventually("100") { try await raw.received().hasPrefix("HTTP/1.1 100 Continue\r\n\r\n") }
      try await raw.send("hello")
      try await eventually("200") { try await raw.received().contains("\"bytes\":5") }
      // After the refusal the five bytes may or may not follow, so nothing more is read as a request.
      try await raw.send("POST /nowhere \(head)")
      let all = try await raw.untilClosed()
      #expect(all.contains("HTTP/1.1 404"))
      #expect(gateway.service.requests == 1)
    }
  }

  @Test func bodiesOverTheRoutesLimitAreRefused() async throws {
    try await withGateway { gateway in
      let accepted = try await gateway.browser.send(.POST, "/small", body: Data(repeating: 1, count: 1000))
      #expect(accepted.int("bytes") == 1000)
      #expect(try await gateway.browser.send(.POST, "/small", body: Data(repeating: 1, count: 1025)).status == 413)
      let raw = try await RawConnection(port: gateway.port)
      let chunk = "400\r\n" + String(repeating: "a", count: 1024) + "\r\n"
      try await raw.send("POST /small HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk + chunk)
      #expect(try await raw.untilClosed().hasPrefix("HTTP/1.1 413"))
      #expect(gateway.service.smallBodySizes == [1000])
    }
  }

  @Test(arguments: [
    "GET /a/../internal/users HTTP/1.1\r\nHost: x\r\n\r\n", "GET /%2e%2e/x HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET //echo HTTP/1.1\r\nHost: x\r\n\r\n", "GET /echo%2Fx HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET /echo%00 HTTP/1.1\r\nHost: x\r\n\r\n", "GET http://x/echo HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET /echo HTTP/1.1\r\n\r\n", "GET /echo HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
    "GET /echo HTTP/1.1\r\nHost: x y\r\n\r\n",
    "POST /count HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
    "POST /count HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "POST /count HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
    "POST /count HTTP/1.1\r\nHost: x\r\nContent-Length: +1\r\n\r\na",
    "POST /count HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "nonsense\r\n\r\n",
  ])
  func whatIsNotCanonicalIsRefusedBeforeAnyServiceSeesIt(request: String) async throws {
    try await withGateway { gateway in
      let raw = try await RawConnection(port: gateway.port)
      try await raw.send(request)
      let response = try await raw.untilClosed()
      #expect(response.hasPrefix("HTTP/1.1 400 "), "\(response.prefix(80))")
      #expect(response.contains("application/problem+json"))
      #expect(gateway.service.requests == 0)
    }
  }

  @Test func unknownMethodsAndPathsAreSaidSo() async throws {
    try await withGateway { gateway in
      let put = try await gateway.browser.send(.PUT, "/count")
      #expect(put.status == 405)
      #expect(put.headers.first(name: "allow") == "DELETE, OPTIONS, POST")
      #expect(try await gateway.browser.get("/internal/users").status == 404)
      #expect(try await gateway.browser.get("/echo/?n=1").status == 200)
      let head = try await gateway.browser.send(.HEAD, "/echo?n=1")
      #expect(head.status == 200)
      #expect(head.headers.first(name: "content-length") != "0")
      #expect(head.body.isEmpty)
      #expect(gateway.service.requests == 2)
    }
  }
}
