import Database
import Foundation
import Support
import Synchronization
import Testing
import Web
import Wire

@testable import Timepoints

/// Events arrive while the scene is made, in every process; the scene does not need its reader.
@Suite struct LiveStreamTests {
  private static let path = "/api/v1/timepoints/generate/stream"
  private static let all =
    ["initialization", "judge", "timeline", "scene", "characters", "graph", "moment", "camera", "dialog"]
    + ["image_prompt", ""]

  @Test(arguments: engines) func eventsComeOneByOneAndWhoLeavesMayComeBack(_ engine: Engine) async throws {
    try await withGemini { gemini in
      try await withStack(engine, gemini.settings) { stack in
        let alice = try await stack.signIn("alice")
        let gate = Gate()
        gemini.calls.next(.waits(gate), for: "scene")
        var id = ""
        do {
          var stream = try await TimepointStream(alice.browser, Self.path, body: ["query": "The gate of Miletus"])
          // Nothing after these can have been sent.
          for step in Self.all.prefix(3) { #expect(try await stream.next()?.step == step) }
          id = try #require(
            try await alice.browser.get("/api/v1/users/me/timepoints").objects("items").first?["id"] as? String)
          #expect(try await alice.browser.get("/api/v1/timepoints/\(id)").string("status") == "processing")
        }
        // The first reader is gone, and another one waits while nothing comes.
        var again = try await TimepointStream(
          alice.browser, "/api/v1/timepoints/\(id)/events", lastEventID: "2")
        #expect(try await again.next()?.step == "timeline")
        gate.open()
        let rest = try await again.all()
        #expect(rest.map(\.step) == Array(Self.all.dropFirst(3)))
        #expect(rest.last?.name == "done")
        #expect(try await alice.spent("generation").map(\.amount) == [-5])
      }
    }
  }

  @Test func aStreamThatWaitsDoesNotHoldUpTheEndOfItsProcess() async throws {
    try await withGemini { gemini in
      try await withStack(.postgres, gemini.settings) { stack in
        let own = stack.dependencies(of: "timepoints")
        let other = try await buildTimepoints(
          Dependencies(
            own.settings, serviceAddresses: own.serviceAddresses, logger: quiet, pollInterval: .seconds(3600),
            now: { stack.clock.now }))
        let alice = try await stack.signIn("alice")
        let gate = Gate()
        gemini.calls.next(.waits(gate), for: "judge")
        let begun = try await alice.browser.post("/api/v1/timepoints/generate", ["query": "The gate of Miletus"])
        let id = begun.string("id")
        try await eventually("the job runs") { gemini.calls.count("judge") == 1 }
        let closing = Mutex<ContinuousClock.Instant?>(nil)
        try await running([other]) {
          let replica = Browser("http://127.0.0.1:\(try await other.port.number)").bearing(alice.access)
          try await eventually { try await replica.get("/health/ready").status == 200 }
          var stream = try await TimepointStream(replica, "/api/v1/timepoints/\(id)/events")
          #expect(try await stream.next()?.step == "initialization")
          closing.withLock { $0 = .now }
        }
        let began = try #require(closing.withLock { $0 })
        // Sooner than the stream would have written by itself.
        #expect(ContinuousClock.now - began < .seconds(12))
        gate.open()
      }
    }
  }

  /// Two processes on one database: the second one has no other way to learn of jobs and events than notifications.
  @Test func anotherProcessTakesJobsAndShowsEventsAtOnce() async throws {
    try await withGemini { gemini in
      let settings = gemini.settings.merging(["GENERATIONS_AT_ONCE": "1"]) { $1 }
      try await withStack(.postgres, settings) { stack in
        let own = stack.dependencies(of: "timepoints")
        let patient = Dependencies(
          own.settings, serviceAddresses: own.serviceAddresses, logger: quiet, pollInterval: .seconds(3600),
          now: { stack.clock.now })
        let other = try await buildTimepoints(patient)
        try await running([other]) {
          let replica = Browser("http://127.0.0.1:\(try await other.port.number)")
          try await eventually { try await replica.get("/health/ready").status == 200 }
          let users = [try await stack.signIn("alice"), try await stack.signIn("bob")]
          let gate = Gate()
          gemini.calls.next(.waits(gate), for: "judge", times: 2)
          // Asked of the first process, which has room for one of them.
          var ids: [String] = []
          for user in users {
            let browser = stack.timepoints.bearing(user.access).with(["Idempotency-Key": "one"])
            let begun = try await browser.post("/api/v1/timepoints/generate", ["query": "The gate of Miletus"])
            ids.append(begun.string("id"))
          }
          try await eventually("both jobs run") { gemini.calls.count("judge") == 2 }
          // Streams and calls of the second process wait for both of them.
          let scenes = Task {
            try await atOnce(2) { number in
              try await replica.bearing(users[number].access).with(["Idempotency-Key": "one"])
                .post("/api/v1/timepoints/generate/sync", ["query": "The gate of Miletus"])
            }
          }
          var streams: [TimepointStream] = []
          for (user, id) in zip(users, ids) {
            var stream = try await TimepointStream(
              replica.bearing(user.access), "/api/v1/timepoints/\(id)/events")
            #expect(try await stream.next()?.step == "initialization")
            streams.append(stream)
          }
          gate.open()
          for var stream in streams {
            #expect(try await stream.all().map(\.step) == Array(Self.all.dropFirst()))
          }
          let replies = try await scenes.value
          #expect(replies.map(\.status) == [200, 200], "\(replies.map(\.text))")
          #expect(Set(replies.map { $0.string("id") }) == Set(ids))
        }
      }
    }
  }

  /// Without the provider: a comment keeps the connection while nothing happens.
  @Test(arguments: engines) func commentsKeepTheConnection(_ engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let database = try await testDatabase.open(timepointsSchema)
      let id = TimepointID.new(at: Date())
      let input = GenerationInput(query: "a moment", preset: .balanced, wantsImage: false)
      let new = NewTimepoint(
        id: id, owner: .new(at: Date()), input: input, visibility: .public, operation: "generate_balanced",
        isCharged: false)
      try await database.write { db in
        try new.insert(at: Date(), on: db)
        try GenerationEventStore.append(.start, to: id, on: db)
      }
      let signals = GenerationSignals(engine: engine, lookInterval: .milliseconds(10))
      let streams = GenerationStreams(database: database, signals: signals, commentInterval: .milliseconds(10))
      let text = try await StreamedText.first(5, of: streams.response(id, after: 0))
      #expect(text.hasPrefix("id: 1\ndata: {"))
      #expect(text.hasSuffix("\n\n:\n\n:\n\n:\n\n:\n\n"))
      await database.close()
    }
  }
}
