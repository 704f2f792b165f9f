import Foundation
import Hummingbird
import Support
import Synchronization
import Testing
import Web
import Wire

/// A successful start logs no warnings, and a failing one logs the reason.
@Suite struct StartupLogTests {
  /// Lines at warning or above.
  private func warnings(_ process: KithProcess) -> [String] {
    process.child.printed().split(separator: "\n").map(String.init).filter { line in
      ["warning", "error", "critical"].contains { line.contains(#""level":"\#($0)""#) }
    }
  }

  @Test func everythingInOneProcessStartsWithoutAWordOfAlarm() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      try await withRefusingServer { refusingServer in
        // `kith` uses its own services, whatever URLs the settings have.
        let elsewhere = Dictionary(ServiceName.bundled.map { ("\($0.variablePrefix)_URL", refusingServer.url) }) { $1 }
        let kith = try await KithProcess.start(in: testDatabase, elsewhere.merging(["LOG_LEVEL": "debug"]) { $1 })
        #expect(kith.child.printed().contains(#""message":"listening""#), "the premise: this is its log")
        #expect(warnings(kith) == [])
        #expect(refusingServer.calls == 0)
        #expect(await kith.stop() == 0)
      }
    }
  }

  @Test func processesThatStartInAnyOrderSayNothingAlarming() async throws {
    for order in [ServiceProcesses.names, ServiceProcesses.names.reversed(), ServiceProcesses.names.shuffled()] {
      try await withTestDatabase(.sqlite) { testDatabase in
        let processes = try ServiceProcesses(order, in: testDatabase)
        try await processes.ready()
        for (name, process) in processes.all { #expect(warnings(process) == [], "\(name) of \(order)") }
        for process in processes.all.values { #expect(await process.stop() == 0) }
      }
    }
  }

  @Test func aWrongKeyIsSaidByTheNameOfWhoRefusedIt() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let processes = try ServiceProcesses(["auth", "credits"], in: testDatabase) { name in
        ["SERVICE_KEY": name == "auth" ? TestStack.keys[name] ?? "" : "the key of nobody 0123456789 abcdefghij"]
      }
      let credits = try #require(processes.all["credits"])
      try await eventually("a complaint") { !warnings(credits).isEmpty }
      let line = try #require(warnings(credits).first)
      #expect(line.contains("check SERVICE_KEY") && line.contains(#""by":"auth""#), "\(line)")
      // It retries many times a second and logs once a minute.
      try await eventually("many questions") {
        let metrics = try await processes.all["auth"]?.gateway.get("/metrics").text ?? ""
        let asked = metrics.firstMatch(of: /sessions\/ended",method="GET",status="403"} (\d+)/)
        return (asked.flatMap { Int($0.1) } ?? 0) > 10
      }
      #expect(warnings(credits).count { $0.contains("check SERVICE_KEY") } < 5)
      for process in processes.all.values { #expect(await process.stop() == 0) }
    }
  }
}

/// A server that rejects every service key.
private struct RefusingServer: Sendable {
  let url: String
  fileprivate let count: Count

  fileprivate final class Count: Sendable {
    let calls = Mutex(0)
  }

  var calls: Int { count.calls.withLock { $0 } }
}

private func withRefusingServer(_ body: (RefusingServer) async throws -> Void) async throws {
  let (count, listening) = (RefusingServer.Count(), ListeningPort())
  let refusing = CallbackResponder<BasicRequestContext> { request, _ in
    count.calls.withLock { $0 += 1 }
    return Failure.wrongServiceKey.response(to: request, requestID: "")
  }
  let app = Application(
    responder: refusing, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
    onServerRunning: { listening.opened(on: $0.localAddress?.port ?? 0, $0) }, logger: quiet)
  try await running([app]) {
    try await body(RefusingServer(url: "http://127.0.0.1:\(try await listening.number)", count: count))
  }
}
