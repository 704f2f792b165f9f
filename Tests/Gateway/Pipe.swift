import Foundation
import Hummingbird
import Logging
import NIOCore
import NIOPosix
import Support
import Testing
import Web

@testable import Gateway

/// A gateway with routes of its own before a service that a test can watch.
struct Pipe: Sendable {
  let port: Int
  let services: [WatchedService]
  let neighbours: Neighbours
  let stack: TestStack
  let gateway: GatewayServer
  var service: WatchedService { services[0] }
  var url: String { "http://127.0.0.1:\(port)" }
  var browser: Browser { Browser(url) }

  private static let large = 1 << 30
  /// More than is gathered before a service is asked.
  static let largeChunk = "11000\r\n" + String(repeating: "a", count: 0x11000) + "\r\n"
  /// What the gateway may have in memory of one exchange whose receiver takes nothing: a few reads.
  static let bufferedBytesMax = 1024 * 1024
  static let routes: [Route] = [
    .init(.GET, "/events", to: .credits), .init(.POST, "/count", to: .credits, bodyBytesMax: large),
    .init(.GET, "/download", to: .credits), .init(.POST, "/hold", to: .credits, bodyBytesMax: large),
    .init(.GET, "/echo", to: .credits), .init(.GET, "/leak", to: .credits),
    .init(.GET, "/guarded", to: .credits),
    .init(.GET, "/die", to: .credits), .init(.POST, "/die", to: .credits),
    .init(.POST, "/early", to: .credits, bodyBytesMax: large, answerSeconds: 1),
    .init(.GET, "/never", to: .credits, answerSeconds: 1), .init(.POST, "/small", to: .credits, bodyBytesMax: 1024),
    .init(.POST, "/hurry", to: .credits, bodySeconds: 1),
    .init(.GET, "/who", to: .credits, bearer: .required), .init(.DELETE, "/count", to: .credits),
    .init(.POST, "/upload", to: .credits, bearer: .required, bodyBytesMax: large, bodySeconds: 10),
    .init(.POST, "/early-hurry", to: .credits, bodyBytesMax: large, bodySeconds: 3),
    .init(.GET, "/quiet", to: .credits, silenceSeconds: 1), .init(.GET, "/ended", to: .credits),
    .init(.DELETE, "/echo", to: .credits), .init(.GET, "/away", to: .lists),
    .init(.POST, "/away", to: .lists), .init(.POST, "/patient", to: .credits, answerSeconds: 7, bodySeconds: 600),
    .init(.POST, "/patient-large", to: .credits, bodyBytesMax: large, answerSeconds: 7, bodySeconds: 600),
    .init(.POST, "/try", to: .credits, limit: .signIn, refreshQuery: "grant=refresh"),
  ]
}

extension Pipe {
  /// What all event loops of the gateway have in memory of requests and answers.
  var bufferedBytes: Int {
    get async { await gateway.loops.gather { $0.bufferedBytes }.reduce(0, +) }
  }

  /// Waits until as much has gone as goes while nobody takes it, and sees that the gateway keeps little of it.
  ///
  /// - Parameter moved: how much has gone.
  func standsStill(_ moved: () -> Int) async throws {
    var before = -1
    try await eventually("the standstill") {
      let (now, buffered) = (moved(), await bufferedBytes)
      #expect(buffered < Self.bufferedBytesMax, "\(buffered)")
      defer { before = now }
      try await Task.sleep(for: .milliseconds(300))
      return now > 0 && now == before || buffered >= Self.bufferedBytesMax
    }
  }

  /// The addresses of the service that can be watched, as the gateway sees them.
  var endpoints: [Endpoint] { gateway.upstreams.endpoints(of: .credits) }
}

/// - Parameter services: how many there are to share the requests out to.
func withPipe(
  _ overrides: [String: String] = [:], patience: Patience = Patience(), probing: Probing = Probing(),
  services count: Int = 1,
  _ body: (Pipe) async throws -> Void
) async throws {
  let services = (0..<count).map { _ in WatchedService() }
  try await withStack(.sqlite) { stack in
    try await running(services.map { $0.server() }) {
      let own = Neighbours(Settings([:]))
      for service in own.present { own.moved(service, to: []) }
      own.moved(.auth, to: stack.auth.base)
      var urls: [String] = []
      for service in services { urls.append("http://127.0.0.1:\(try await service.listening.number)") }
      own.moved(.credits, to: urls)
      let settings = stack.surroundings(of: "gateway").settings.overlaid(overrides)
      let gateway = try buildGateway(
        Surroundings(settings, neighbours: own, logger: quiet), routes: Pipe.routes, patience: patience,
        probing: probing)
      try await running([gateway]) {
        // A service that is still to answer could not stop.
        defer { for service in services { service.answerProbes(after: .zero) } }
        let port = try await gateway.port.number
        if overrides["TLS_CERTIFICATE"] == nil {
          try await eventually("readiness") {
            try await Browser("http://127.0.0.1:\(port)").get("/health/ready").status == 200
          }
        }
        try await body(Pipe(port: port, services: services, neighbours: own, stack: stack, gateway: gateway))
      }
    }
  }
}
