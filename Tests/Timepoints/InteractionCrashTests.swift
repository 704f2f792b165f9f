import AsyncHTTPClient
import Database
import Foundation
import Support
import Testing
import Wire

/// The service dies between any two steps of chats, dialogs, surveys and jumps, and credits fail at random meanwhile.
/// Whoever repeats a request with its key until there is an answer has paid for it once.
@Suite struct InteractionCrashTests {
  private static let requestCount = 30

  @Test(arguments: engines, [3, 4] as [UInt64]) func anAnswerIsPaidOnceHoweverOftenItIsAskedFor(
    _ engine: Engine, _ seed: UInt64
  ) async throws {
    let crashes = Crashes(seed: seed)
    let settings = ["JWT_ACCESS_EXPIRE_MINUTES": "1440"]
    try await withStack(engine, settings, wrapDatabase: { CrashingDatabase(inner: $0, crashes: crashes) }) { stack in
      let alice = try await stack.signIn("alice")
      try await stack.grant(1000, to: alice)
      let made = try await alice.generate("The fall of Constantinople")
      let before = try await alice.balance()
      let clock = Task {
        while !Task.isCancelled {
          try await Task.sleep(for: .milliseconds(50))
          guard crashes.isDead else {
            // What a live process has leased when a call to credits failed ends, too, while all callers wait for it.
            stack.clock.advance(by: .milliseconds(100))
            continue
          }
          // What the dead process had leased and claimed ends.
          stack.clock.advance(by: .seconds(61))
          crashes.revive()
        }
      }
      defer { clock.cancel() }
      crashes.begin()
      let requests = try Self.requests(about: made)
      let answers: [String: String] = try await atOnce(3) { caller in
        var answers: [String: String] = [:]
        for index in stride(from: caller, to: Self.requestCount, by: 3) {
          let request = requests[index % requests.count]
          answers["key-\(index)"] = try await Self.answered(request, key: "key-\(index)", by: alice, in: stack)
        }
        return answers
      }.reduce([:]) { $0.merging($1) { $1 } }
      crashes.end()
      #expect(crashes.counts.deaths > 0 && crashes.counts.failures > 0, "the premise")
      try await stack.settled()
      // Repeated once more, each of them has the same answer, and costs nothing.
      for index in 0..<requests.count {
        let key = "key-\(index)"
        #expect(try await Self.answered(requests[index], key: key, by: alice, in: stack) == answers[key])
      }
      try await stack.settled()
      let (chats, jumps) = (try await alice.spent("chat"), try await alice.spent("temporal"))
      #expect(chats.count + jumps.count == Self.requestCount)
      #expect(chats.allSatisfy { $0.amount == -1 && $0.reference == made.string("id") })
      #expect(Set(jumps.map(\.reference)).count == jumps.count && jumps.allSatisfy { $0.amount == -2 })
      let (balance, held) = (try await alice.balance(), try await alice.held())
      #expect(balance == before - chats.count - 2 * jumps.count)
      #expect(held == 0)
      // Every conversation that was to be kept is there once.
      let saved = requests.indices.filter { requests[$0].body["save_session"] != nil }
      let kept = (0..<Self.requestCount).count { saved.contains($0 % requests.count) }
      #expect(try await stack.count("character_chat", in: "timepoints") == kept)
      #expect(try await stack.count("character_chat_message", in: "timepoints") == 2 * kept)
    }
  }

  private struct Asked: Sendable {
    let path: String
    let body: [String: any Sendable]
    var isStream: Bool { path.hasSuffix("stream") }
  }

  private static func requests(about made: Browser.Reply) throws -> [Asked] {
    let (id, name) = (made.string("id"), try #require(made.characterNames.first))
    let path = "/api/v1/interactions/\(id)"
    return [
      Asked(path: "\(path)/chat", body: ["character": name, "message": "Where are you?"]),
      Asked(path: "\(path)/dialog", body: ["num_lines": 2]),
      Asked(path: "/api/v1/temporal/\(id)/next", body: ["units": 3]),
      Asked(path: "\(path)/survey", body: ["characters": [name], "questions": ["What do you see?"]]),
      Asked(path: "\(path)/chat", body: ["character": name, "message": "And now?", "save_session": true]),
      Asked(path: "\(path)/chat/stream", body: ["character": name, "message": "Who are you?"]),
    ]
  }

  /// Repeats a request until it is answered. Returns what identifies the answer.
  private static func answered(
    _ asked: Asked, key: String, by user: SignedInUser, in stack: TestStack
  ) async throws -> String {
    let browser = user.browser.with(["Idempotency-Key": key])
    var (answer, last): (String?, String) = (nil, "")
    try await eventually("an answer to \(key) \(asked.path): \(last)", within: .seconds(300)) {
      do {
        if asked.isStream {
          var stream = try await TimepointStream(browser, asked.path, body: asked.body)
          let end = try await stream.all().last
          answer = end?.name == "done" ? end?.data["response"] as? String : nil
          last = "\(stream.status) \(end?.text ?? "")"
        } else {
          let reply = try await browser.post(asked.path, asked.body)
          // Latencies are those of the first time.
          answer = reply.status == 200 ? reply.text : nil
          last = reply.text
        }
      } catch let noAnswer as HTTPClientError {
        // A connection that is lost, or an answer that does not come in time, is no answer either.
        last = "\(noAnswer)"
      }
      // What a dead process has claimed is claimed for a minute.
      if last.contains("idempotency_key_in_use") { stack.clock.advance(by: .seconds(2)) }
      return answer != nil
    }
    return try #require(answer)
  }
}
