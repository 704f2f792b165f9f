import Database
import Foundation
import Support
import Testing
import Wire

private let interactionCount = ProcessInfo.processInfo.environment["KITH_INTERACTIONS"].flatMap { Int($0) } ?? 0

/// kill -9 of processes whose characters answer: each answer is paid once, however often it was asked for. It takes
/// minutes, as what a killed process has claimed and held ends by itself, so it runs only with `KITH_INTERACTIONS`.
@Suite(.serialized, .timeLimit(.minutes(30)), .enabled(if: interactionCount > 0))
struct InteractionKillTests {
  private static let killCount = ProcessInfo.processInfo.environment["KITH_GENERATION_KILLS"].flatMap { Int($0) } ?? 3
  private static let callers = 12

  @Test(arguments: engines) func eachAnswerIsPaidOnce(engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      try await withGemini { gemini in
        let settings = gemini.settings.merging(["GENERATION_TIMEOUT_SECONDS": "5"]) { $1 }
        let replicas = try await TimepointReplicas(
          in: testDatabase, settings, count: engine == .postgres ? 2 : 1)
        let alice = try #require(try await replicas.users(1, credits: 5 + 2 * interactionCount).first)
        let scene = try await replicas.answered(
          "/api/v1/timepoints/generate/sync", ["query": "The gate of Miletus"], by: alice, key: "scene")
        let id = scene.string("id")
        let killing = Task {
          for _ in 0..<Self.killCount {
            try await Task.sleep(for: .milliseconds(Int.random(in: 300...1500)))
            try await replicas.killOne()
          }
        }
        _ = try await atOnce(Self.callers) { caller in
          for number in stride(from: caller, to: interactionCount, by: Self.callers) {
            let (path, body) = Self.request(number, about: id)
            _ = try await replicas.answered(path, body, by: alice, key: "request-\(number)")
          }
        }
        try await killing.value
        try await eventually("the end of all charges", within: .seconds(300)) {
          let jobs = try await testDatabase.count("generation_job", in: "timepoints")
          return try await jobs + testDatabase.count("charge where settled_at is null", in: "timepoints") == 0
        }
        await replicas.stop()
        let jumps = (0..<interactionCount).count { $0 % 4 == 3 }
        try await Self.expectPaid(answers: interactionCount - jumps, jumps: jumps, scene: id, in: testDatabase)
      }
    }
  }

  private static func request(_ number: Int, about id: String) -> (String, [String: any Sendable]) {
    let (path, name) = ("/api/v1/interactions/\(id)", SceneAnswers.names[0])
    return switch number % 4 {
    case 0: ("\(path)/chat", ["character": name, "message": "Message \(number)"])
    case 1: ("\(path)/dialog", ["num_lines": 2])
    case 2: ("\(path)/survey", ["questions": ["Question \(number)"], "characters": [name]])
    default: ("/api/v1/temporal/\(id)/next", ["units": number % 300 + 1])
    }
  }

  private static func expectPaid(
    answers: Int, jumps: Int, scene: String, in testDatabase: TestDatabase
  ) async throws {
    let credits = try await testDatabase.open("credits", [])
    let paid = try await credits.read { db in
      try db.rows(
        """
        select o.reference_id, o.type, p.amount from ledger_operation o join ledger_posting p on p.operation_id = o.id
        where o.reference_type = 'timepoint' and p.amount < 0
        """
      ).map { row in
        (
          id: try row.get("reference_id", as: String.self), type: try row.get("type", as: String.self),
          amount: try row.get("amount", as: Int.self)
        )
      }
    }
    let held = try await credits.read { db in
      try db.row("select count(*) as total from ledger_account where held <> 0")?.get("total", as: Int.self)
    }
    await credits.close()
    let (chats, journeys) = (paid.filter { $0.type == "chat" }, paid.filter { $0.type == "temporal" })
    #expect(chats.count == answers && chats.allSatisfy { $0.id == scene && $0.amount == -1 })
    #expect(journeys.count == jumps && journeys.allSatisfy { $0.amount == -2 })
    #expect(Set(journeys.map(\.id)).count == jumps)
    #expect(held == 0)
  }
}
