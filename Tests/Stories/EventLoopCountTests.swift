#if os(Linux)
  import Foundation
  import Support
  import Testing

  /// A process has as many event loops as cores: with more, connections wait for the time slices of other loops.
  @Suite struct EventLoopCountTests {
    @Test(arguments: ["kith", "kith-gateway"])
    func aProcessOnOneCoreHasOneEventLoop(name: String) async throws {
      try await withTestDatabase(.sqlite) { testDatabase in
        let environment = try KithProcess.environment(testDatabase).merging(["SERVICE_KEY": "x"]) { $1 }
        let process = try KithProcess.launch(name, environment, in: testDatabase, wrapper: ["taskset", "0x1"])
        try await process.healthy("/health/live")
        let threads = try Self.threads(of: process)
        #expect(threads.count { $0.hasPrefix("NIO-SGLTN") && !$0.hasPrefix("NIO-SGLTN-TP") } == 1, "\(threads)")
        #expect(await process.stop() == 0)
      }
    }

    private static func threads(of process: KithProcess) throws -> [String] {
      let folder = "/proc/\(process.child.id)/task"
      return try FileManager.default.contentsOfDirectory(atPath: folder).map { thread in
        try String(contentsOfFile: "\(folder)/\(thread)/comm", encoding: .utf8).trimmingCharacters(in: .newlines)
      }
    }
  }
#endif
