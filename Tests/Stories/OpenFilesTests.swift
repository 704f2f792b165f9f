import Foundation
import Support
import Testing
import Web
import Wire

/// Each connection takes a file descriptor, of which shells and service managers allow few.
@Suite struct OpenFilesTests {
  private static let few = 256

  @Test(arguments: ["events", "gateway"]) func everyProcessRaisesItsLimit(_ name: String) async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      var environment = try KithProcess.environment(testDatabase)
      for service in ServiceName.bundled {
        environment["\(service.variablePrefix)_URL"] =
          "http://127.0.0.1:\(environment["\(service.variablePrefix)_PORT"] ?? "")"
      }
      environment["SERVICE_KEY"] = TestStack.keys[name]
      let process = try KithProcess.launch(
        "kith-\(name)", environment, in: testDatabase,
        wrapper: ["/bin/sh", "-c", "ulimit -Sn \(Self.few) && exec \"$0\" \"$@\""])
      try await process.healthy("/health/live")
      let metrics = try await process.gateway.with(["X-Service-Key": TestStack.keys["lists"] ?? ""]).get("/metrics")
      let line = metrics.text.split(separator: "\n").first { $0.hasPrefix("process_max_fds ") }
      let limit = try #require(line?.split(separator: " ").last.flatMap { Double($0) })
      #expect(limit > Double(Self.few))
      #expect(await process.stop() == 0)
    }
  }
}
