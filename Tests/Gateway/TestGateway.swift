import Foundation
import Hummingbird
import Logging
import NIOCore
import NIOPosix
import Support
import Testing
import Web

@testable import Gateway

/// A gateway with test routes to a ``TestService``.
struct TestGateway: Sendable {
  let port: Int
  let services: [TestService]
  let serviceAddresses: ServiceAddresses
  let stack: TestStack
  let server: GatewayServer
  var service: TestService { services[0] }
  var url: String { "http://127.0.0.1:\(port)" }
  var browser: Browser { Browser(url) }

  private static let large = 1 << 30
  /// More than is buffered before a connection to the service is chosen.
  static let largeChunk = "11000\r\n" + String(repeating: "a", count: 0x11000) + "\r\n"
  /// The maximum that the gateway may buffer for one exchange whose receiver does not read: a few reads.
  static let bufferedBytesMax = 1024 * 1024
  static let routes: [Route] = [
    .init(.GET, "/events", to: .credits), .init(.POST, "/count", to: .credits, bodyBytesMax: large),
    .init(.GET, "/download", to: .credits, responseSeconds: 60),
    .init(.POST, "/hold", to: .credits, bodyBytesMax: large),
    .init(.GET, "/echo", to: .credits), .init(.GET, "/leak", to: .credits),
    .init(.GET, "/guarded", to: .credits),
    .init(.GET, "/die", to: .credits), .init(.POST, "/die", to: .credits),
    .init(.POST, "/early", to: .credits, bodyBytesMax: large, responseSeconds: 4),
    .init(.GET, "/never", to: .credits, responseSeconds: 1), .init(.POST, "/small", to: .credits, bodyBytesMax: 1024),
    .init(.POST, "/hurry", to: .credits, bodySeconds: 1),
    .init(.GET, "/who", to: .credits, bearer: .required), .init(.DELETE, "/count", to: .credits),
    .init(.POST, "/upload", to: .credits, bearer: .required, bodyBytesMax: large, bodySeconds: 10),
    .init(.POST, "/early-hurry", to: .credits, bodyBytesMax: large, bodySeconds: 3),
    .init(.GET, "/quiet", to: .credits, idleSeconds: 3), .init(.GET, "/ended", to: .credits),
    .init(.DELETE, "/echo", to: .credits), .init(.GET, "/away", to: .lists),
    .init(.POST, "/away", to: .lists), .init(.POST, "/patient", to: .credits, responseSeconds: 7, bodySeconds: 600),
    .init(.POST, "/patient-large", to: .credits, bodyBytesMax: large, responseSeconds: 7, bodySeconds: 600),
    .init(.POST, "/try", to: .credits, limit: .signIn, refreshQuery: "grant=refresh"),
  ]
}

extension TestGateway {
  /// The bytes of requests and responses that all event loops of the gateway buffer.
  var bufferedBytes: Int {
    get async { await server.loops.gather { $0.bufferedBytes }.reduce(0, +) }
  }

  /// Waits until no more bytes move because the receiver does not read, and checks that the gateway buffers little.
  ///
  /// - Parameter moved: the number of bytes that have been sent.
  func waitUntilStalled(_ moved: () -> Int) async throws {
    var before = -1
    try await eventually("the standstill") {
      let (now, buffered) = (moved(), await bufferedBytes)
      #expect(buffered < Self.bufferedBytesMax, "\(buffered)")
      defer { before = now }
      try await Task.sleep(for: .milliseconds(300))
      return now > 0 && now == before || buffered >= Self.bufferedBytesMax
    }
  }

  /// The gateway's endpoints of the test services.
  var endpoints: [Endpoint] { server.upstreams.endpoints(of: .credits) }
}

/// - Parameter services: how many test services share the requests.
func withGateway(
  _ overrides: [String: String] = [:], timeouts: Timeouts = Timeouts(), healthProbe: HealthProbe = HealthProbe(),
  services count: Int = 1,
  _ body: (TestGateway) async throws -> Void
) async throws {
  let services = (0..<count).map { _ in TestService() }
  try await withStack(.sqlite) { stack in
    try await running(services.map { $0.server() }) {
      let own = ServiceAddresses(Settings([:]))
      for service in own.configured { own.set(service, to: []) }
      own.set(.auth, to: stack.auth.base)
      var urls: [String] = []
      for service in services { urls.append("http://127.0.0.1:\(try await service.listening.number)") }
      own.set(.credits, to: urls)
      let settings = stack.dependencies(of: "gateway").settings.overlaid(overrides)
      let server = try buildGateway(
        Dependencies(settings, serviceAddresses: own, logger: quiet), routes: TestGateway.routes, timeouts: timeouts,
        healthProbe: healthProbe)
      try await running([server]) {
        // A service that still delays a response could not stop.
        defer { for service in services { service.answerProbes(after: .zero) } }
        let port = try await server.port.number
        if overrides["TLS_CERTIFICATE"] == nil {
          try await eventually("readiness") {
            // Timeouts of a test may close a connection while a request is on its way.
            do { return try await Browser("http://127.0.0.1:\(port)").get("/health/ready").status == 200 } catch {
              return false
            }
          }
        }
        try await body(TestGateway(port: port, services: services, serviceAddresses: own, stack: stack, server: server))
      }
    }
  }
}
