import Database
import Foundation
import Support
import Testing
import Wire

/// How many scenes are made at once in a process, and of one user; the others wait in order.
@Suite struct LimitTests {
  @Test(arguments: engines) func soManyAtOnceAndTheRestInOrder(_ engine: Engine) async throws {
    try await withGemini { gemini in
      let settings = gemini.settings.merging([
        "GENERATIONS_AT_ONCE": "2", "GENERATIONS_AT_ONCE_PER_USER": "1", "SIGNUP_CREDITS": "100",
      ]) { $1 }
      try await withStack(engine, settings) { stack in
        let gate = Gate()
        gemini.calls.next(.waits(gate), for: "judge", times: 9)
        let wanted = [("alice", 4), ("bob", 2), ("carol", 2)]
        for (name, count) in wanted {
          let user = try await stack.signIn(name)
          for number in 1...count {
            let query = ["query": "Moment \(number) of \(name)"]
            #expect(try await user.browser.post("/api/v1/timepoints/generate", query).status == 200)
            // Their order is that of their times, in milliseconds.
            try await Task.sleep(for: .milliseconds(2))
          }
        }
        try await eventually("as many as there may be") { gemini.calls.count("judge") == 2 }
        // One of carol's is due, and the process has no room for it.
        try await Task.sleep(for: .milliseconds(300))
        #expect(Self.judged(gemini).sorted() == ["1 of alice", "1 of bob"])
        gate.open()
        try await eventually("the end of all jobs", within: .seconds(240)) {
          try await stack.count("generation_job", in: "timepoints") == 0
        }
        let order = Self.judged(gemini)
        for (name, count) in wanted {
          let own = order.filter { $0.hasSuffix(name) }
          #expect(own == (1...count).map { "\($0) of \(name)" })
        }
        #expect(try await stack.count("timepoint where status = 'completed'", in: "timepoints") == 8)
        #expect(try await stack.count("generation_limit where active_count <> 0", in: "timepoints") == 0)
      }
    }
  }

  /// What the model was asked to judge, in order.
  private static func judged(_ gemini: GeminiServer) -> [String] {
    gemini.calls.all.filter { $0.step == "judge" }.compactMap { call in
      call.text.firstMatch(of: /Moment (\d of [a-z]+)/).map { String($0.1) }
    }
  }

  /// Who has called off a scene that is being made has its credits back, and the next one begins.
  @Test(arguments: engines, ["", "?permanent=true"])
  func aSceneThatIsCalledOffMakesRoom(_ engine: Engine, query: String) async throws {
    try await withGemini { gemini in
      let settings = gemini.settings.merging(["GENERATIONS_AT_ONCE_PER_USER": "1"]) { $1 }
      try await withStack(engine, settings) { stack in
        let alice = try await stack.signIn("alice")
        let before = try await alice.balance()
        let gate = Gate()
        gemini.calls.next(.waits(gate), for: "judge")
        var ids: [String] = []
        for number in 0..<2 {
          let begun = try await alice.browser.post("/api/v1/timepoints/generate", ["query": "Moment \(number)"])
          ids.append(begun.string("id"))
        }
        try await eventually("the first one runs") { gemini.calls.count("judge") == 1 }
        #expect(try await alice.browser.delete("/api/v1/timepoints/\(ids[0])\(query)").status == 200)
        #expect(try await alice.browser.get("/api/v1/timepoints/\(ids[0])").status == 404)
        try await eventually("the second one is made") {
          try await alice.browser.get("/api/v1/timepoints/\(ids[1])").string("status") == "completed"
        }
        gate.open()
        try await stack.settled()
        #expect(try await alice.spent("generation").map(\.reference) == [ids[1]])
        #expect(try await alice.balance() == before - 5)
        #expect(try await alice.held() == 0)
      }
    }
  }
}
