import Database
import Foundation
import Support
import Testing
import Wire

/// The service dies between any two steps. Every scene is made and paid once, and whatever is not made is not paid.
@Suite struct CrashTests {
  @Test(arguments: engines, [1, 2] as [UInt64]) func aScenePaidIsASceneMade(_ engine: Engine, _ seed: UInt64)
    async throws
  {
    let crashes = Crashes(seed: seed)
    try await withStack(engine, wrapDatabase: { CrashingDatabase(inner: $0, crashes: crashes) }) { stack in
      let alice = try await stack.signIn("alice")
      try await stack.grant(1000, to: alice)
      let before = try await alice.balance()
      crashes.begin()
      for round in 0..<12 {
        _ = try await atOnce(3) { number in
          try await alice.browser.post("/api/v1/timepoints/generate", ["query": "Moment \(round) of \(number)"])
        }
        try await Task.sleep(for: .milliseconds(100))
        if crashes.isDead {
          // What the dead process had leased ends.
          stack.clock.advance(by: .seconds(40))
          crashes.revive()
        }
      }
      #expect(crashes.counts.deaths > 0, "the premise")
      crashes.end()
      try await stack.settled()
      // The token has ended.
      let user = try await stack.signIn("alice")
      let wrong = try await accounts(of: user, in: stack)
      #expect(wrong == [])
      let completed = try await stack.count("timepoint where status = 'completed'", in: "timepoints")
      #expect(completed > 0, "the premise")
      let (balance, held) = (try await user.balance(), try await user.held())
      #expect(balance == before - 5 * completed)
      #expect(held == 0)
    }
  }

  /// The scene is paid, and writing down that it is complete fails for longer than any generation is tried.
  @Test(arguments: engines) func aPaidSceneIsShownHoweverOftenThatFails(_ engine: Engine) async throws {
    let failures = Failures(count: 14)
    try await withStack(engine, wrapDatabase: { CompletionFailingDatabase(inner: $0, failures: failures) }) { stack in
      let alice = try await stack.signIn("alice")
      let before = try await alice.balance()
      let begun = try await alice.browser.post("/api/v1/timepoints/generate", ["query": "The first flight"])
      #expect(begun.status == 200)
      try await eventually("fourteen failures", passing: .seconds(10), on: stack.clock) {
        try await stack.count("generation_job where lease is not null", in: "timepoints")
      } _: {
        failures.isOver
      }
      try await stack.settled()
      let user = try await stack.signIn("alice")
      let scene = try await user.browser.get("/api/v1/timepoints/\(begun.string("id"))")
      #expect(scene.string("status") == "completed", "\(scene.text)")
      #expect(try await user.balance() == before - 5)
    }
  }

  /// Its owner deletes it after it is paid and before that is written down.
  @Test(arguments: engines) func aPaidSceneThatIsDeletedIsCompletedForTheExport(_ engine: Engine) async throws {
    let failures = Failures(count: 1)
    try await withStack(engine, wrapDatabase: { CompletionFailingDatabase(inner: $0, failures: failures) }) { stack in
      let alice = try await stack.signIn("alice")
      let before = try await alice.balance()
      let begun = try await alice.browser.post("/api/v1/timepoints/generate", ["query": "The first flight"])
      // It is tried again when the clock goes on.
      try await eventually("the failure") { failures.isOver }
      let path = "/api/v1/timepoints/\(begun.string("id"))"
      #expect(try await alice.browser.delete(path).status == 200)
      let completed: SQL = "timepoint where status = 'completed' and deleted_at is not null"
      try await eventually("its completion", passing: .seconds(10), on: stack.clock) {
        try await stack.count("generation_job where lease is not null", in: "timepoints")
      } _: {
        try await stack.count(completed, in: "timepoints") == 1
      }
      let user = try await stack.signIn("alice")
      #expect(try await user.browser.get(path).status == 404)
      #expect(try await user.balance() == before - 5)
      #expect(try await user.held() == 0)
    }
  }

  /// The timepoints that were charged otherwise than once when completed, and never when not.
  private func accounts(of user: SignedInUser, in stack: TestStack) async throws -> [String] {
    var charged: [String: Int] = [:]
    for entry in try await user.spent("generation") { charged[entry.reference, default: 0] += -entry.amount }
    let own = try await user.browser.get("/api/v1/users/me/timepoints?page_size=100").objects("items")
    var wrong: [String] = []
    for item in own {
      let (id, status) = (item["id"] as? String ?? "", item["status"] as? String ?? "")
      let due = status == "completed" ? 5 : 0
      if charged.removeValue(forKey: id) ?? 0 != due { wrong.append("\(id) \(status)") }
    }
    return wrong + charged.keys.map { "\($0) is not there" }
  }
}
