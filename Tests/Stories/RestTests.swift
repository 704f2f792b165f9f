import Database
import Foundation
import Support
import Testing
import Web

/// What processes do that nobody uses: next to nothing.
@Suite struct RestTests {
  /// Requests and transactions of the services, from their metrics, without the requests for the metrics.
  private func counts(_ services: [Browser]) async throws -> [String: Double] {
    var counts: [String: Double] = [:]
    for service in services {
      for line in try await service.get("/metrics").text.split(separator: "\n") {
        let isCounted = ["kith_http_requests_total", "kith_database_transactions_total"].contains { line.hasPrefix($0) }
        guard isCounted, !line.contains("route=\"/metrics\""), let space = line.lastIndex(of: " ") else { continue }
        counts["\(service.base) \(line[..<space])"] = Double(line[line.index(after: space)...])
      }
    }
    return counts
  }

  /// The counts of five seconds of rest: of the third to the sixth such time, as the start takes a while, and longer on
  /// a busy machine.
  ///
  /// - Parameter isLittle: whether the counts are those of a rest.
  private func expectRest(_ services: [Browser], isLittle: ([String: Double]) -> Bool) async throws {
    var counted: [String: Double] = [:]
    var before = try await counts(services)
    for number in 1...6 {
      try await Task.sleep(for: .seconds(5))
      let after = try await counts(services)
      counted = after.merging(before) { $0 - $1 }.filter { $0.value != 0 }
      before = after
      if number >= 3, isLittle(counted) { return }
    }
    Issue.record("\(counted)")
  }

  private func services(_ environment: [String: String]) -> [Browser] {
    ServiceName.bundled.map { Browser("http://127.0.0.1:\(environment["\($0.variablePrefix)_PORT"] ?? "")") }
  }

  /// On PostgreSQL other replicas may have ended sessions or appended events, which auth and events read once a second.
  @Test(arguments: engines) func inOneProcessNothingIsAskedAndNothingRead(engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let kith = try await KithProcess.start(in: testDatabase)
      let services = services(kith.environment)
      #expect(try await !counts(services).isEmpty, "the premise")
      let readers = engine == .postgres ? ["AUTH", "EVENTS"].map { kith.environment["\($0)_PORT"] ?? "?" } : []
      try await expectRest(services) { counted in
        counted.allSatisfy { name, count in readers.contains { name.contains($0) } && count <= 7 }
      }
      #expect(await kith.stop() == 0)
    }
  }

  @Test func apartProcessesWaitAtAuthAndAskLittle() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let processes = try ServiceProcesses(in: testDatabase)
      try await processes.ready()
      let environment = try #require(processes.all["gateway"]?.environment)
      try await expectRest(services(environment)) { counted in
        let requests = counted.filter { $0.key.contains("kith_http_requests_total") }
        func count(_ route: String) -> Double { requests.filter { $0.key.contains(route) }.values.reduce(0, +) }
        // In five seconds the gateway and four services call auth at most once each, and a service is probed at most
        // once.
        return count("/internal/sessions/ended") <= 5 && count("/health/ready") <= 5
          && requests.values.reduce(0, +) <= 10 && counted.values.reduce(0, +) <= 20
      }
      for process in processes.all.values { _ = await process.stop() }
    }
  }

  /// Threads follow the processors that a process may use.
  @Test(
    .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/taskset"), "TASKSET IS NOT THERE"),
    arguments: ["kith", "kith-auth", "kith-groups", "kith-gateway"])
  func withOneProcessorThereIsOneOfEachKindOfThread(name: String) async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      var environment = try KithProcess.environment(testDatabase)
      if name != "kith" { environment["SERVICE_KEY"] = TestStack.keys["gateway"] }
      let process = try KithProcess.launch(
        name, environment, in: testDatabase, wrapper: ["/usr/bin/taskset", "-c", "0"])
      try await process.healthy("/health/live")
      try await Task.sleep(for: .seconds(1))
      let threads = try Self.threads(of: process.child.id)
      #expect(threads.filter { $0.hasPrefix("NIO-SGLTN-") }.count == 1, "event loops: \(threads)")
      #expect(threads.filter { $0.hasPrefix("SGLTN-TP-#") }.count <= 1, "blocking work: \(threads)")
      #expect(await process.stop() == 0)
    }
  }

  private static func threads(of process: Int32) throws -> [String] {
    let folder = "/proc/\(process)/task"
    return try FileManager.default.contentsOfDirectory(atPath: folder).map { thread in
      try String(contentsOfFile: "\(folder)/\(thread)/comm", encoding: .utf8).trimmingCharacters(in: .newlines)
    }
  }
}
