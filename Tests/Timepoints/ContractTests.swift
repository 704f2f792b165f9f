import Database
import Foundation
import Support
import Testing
import Wire

/// What the app's integration guide shows, line by line through the gateway, with the types that its decoders use.
@Suite struct ContractTests {
  private struct TimepointResponse: Decodable {
    let id, query, slug, status, visibility, created_at, sequence_id, render_type, preset_used: String
    let has_image, is_deleted: Bool
    let generation_version, credits_charged: Int
    let tags: [String]
    let year, month, day, generation_time_ms: Int?
    let season, time_of_day, era, location, image_prompt, image_url, image_base64, share_url, error: String?
    let text_model_used, image_model_used, blob_folder_name, blob_path, blob_written_at: String?
    let metadata, scene, moment, grounding: [String: AnyValue]?
    let characters: [String: AnyValue]?
    let dialog: [[String: AnyValue]]?
  }

  /// Any JSON.
  private struct AnyValue: Decodable {
    init(from decoder: any Decoder) throws { _ = try decoder.singleValueContainer() }
  }

  private struct OwnTimepoints: Decodable {
    struct Item: Decodable {
      let id, query, slug, status, location, created_at: String
      let year: Int
      let has_image: Bool
    }

    let items: [Item]
    let total, page, page_size: Int
  }

  private static let query = "Oppenheimer Trinity test 1945"
  private static var seconds: Regex<Substring> { /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/ }

  @Test(arguments: engines) func theGuideIsKeptLineByLine(_ engine: Engine) async throws {
    let settings = ["SHARE_URL_BASE": "https://timepointai.com/t", "PUBLIC_URL": "https://api.example.com"]
    try await withStack(engine, settings) { stack in
      let admin = stack.gateway.with(["X-Admin-Key": TestStack.adminKey])
      let token = try await admin.post("/api/v1/auth/dev/token", ["email": "test@example.com"])
      let app = stack.gateway.bearing(token.string("access_token"))
      try await expectCosts(stack.gateway)
      let made = try await expectInOneCall(app)
      let polled = try await expectInTheBackground(app)
      let streamed = try await expectAsAStream(app)
      try await expectOwnScenes(app, [streamed, polled, made.id])
      try await expectLedger(app, [made.id, polled, streamed])
      try await expectVisibility(app, stack.gateway, made)
      try await expectInteractionsAndJumps(app, made)
      let export = try await app.get("/api/v1/users/me/export")
      let exported = try #require(export["timepoints"] as? [[String: Any]])
      #expect(Set(exported.compactMap { $0["id"] as? String }).isSuperset(of: [made.id, polled, streamed]))
    }
  }

  private func expectCosts(_ anyone: Browser) async throws {
    let costs = try await anyone.get("/api/v1/credits/costs")["costs"] as? [String: Int]
    let named = [
      "generate_balanced": 5, "generate_hd": 10, "generate_hyper": 5, "generate_gemini3": 5, "chat": 1,
      "temporal_jump": 2,
    ]
    for (operation, credits) in named { #expect(costs?[operation] == credits, "\(operation)") }
  }

  private func expectInOneCall(_ app: Browser) async throws -> TimepointResponse {
    let reply = try await app.post(
      "/api/v1/timepoints/generate/sync", ["query": Self.query, "generate_image": true, "preset": "balanced"])
    #expect(reply.status == 200, "\(reply.text)")
    let scene = try JSONDecoder().decode(TimepointResponse.self, from: reply.body)
    #expect(scene.status == "completed" && scene.year == 1945 && scene.credits_charged == 5)
    #expect(try /oppenheimer-trinity-test-1945-[a-z0-9]{6}/.wholeMatch(in: scene.slug) != nil)
    #expect(try Self.seconds.wholeMatch(in: scene.created_at) != nil)
    #expect(scene.has_image && scene.image_base64 == nil)
    #expect(scene.image_url == "https://api.example.com/api/v1/timepoints/\(scene.id)/image")
    #expect(scene.share_url == "https://timepointai.com/t/\(scene.slug)")
    #expect(scene.characters != nil && scene.scene != nil && scene.dialog?.isEmpty == false)
    let shown = try await app.get("/api/v1/timepoints/\(scene.id)?full=true&include_image=false")
    #expect(try JSONDecoder().decode(TimepointResponse.self, from: shown.body).image_base64 == nil)
    let whole = try await app.get("/api/v1/timepoints/\(scene.id)?include_image=true").string("image_base64")
    #expect(Data(base64Encoded: whole)?.starts(with: [0xFF, 0xD8, 0xFF]) == true)
    return scene
  }

  private func expectInTheBackground(_ app: Browser) async throws -> String {
    let begun = try await app.post("/api/v1/timepoints/generate", ["query": Self.query, "visibility": "private"])
    #expect(begun.status == 200 && begun.string("status") == "processing" && !begun.string("message").isEmpty)
    #expect(begun["request_context"] is NSNull)
    let path = "/api/v1/timepoints/\(begun.string("id"))"
    try await eventually { try await app.get(path).string("status") == "completed" }
    let scene = try JSONDecoder().decode(TimepointResponse.self, from: try await app.get(path).body)
    #expect(scene.visibility == "private" && scene.share_url == nil && scene.scene == nil)
    return scene.id
  }

  private func expectAsAStream(_ app: Browser) async throws -> String {
    var stream = try await TimepointStream(
      app, "/api/v1/timepoints/generate/stream", body: ["query": Self.query, "preset": "gemini3"])
    #expect(stream.status == 200 && stream.contentType == "text/event-stream")
    let events = try await stream.all()
    let first = try #require(events.first)
    #expect(first.name == "start" && first.step == "initialization" && first.progress == 0)
    #expect(events[1].name == "step_complete" && events[1].step == "judge" && events[1].progress == 10)
    let done = try #require(events.last)
    #expect(done.name == "done" && done.progress == 100 && done.data["status"] as? String == "completed")
    return try #require(done.data["timepoint_id"] as? String)
  }

  private func expectOwnScenes(_ app: Browser, _ ids: [String]) async throws {
    let reply = try await app.get("/api/v1/users/me/timepoints?page=1&page_size=20&status=completed")
    let own = try JSONDecoder().decode(OwnTimepoints.self, from: reply.body)
    #expect(own.items.map(\.id) == ids && own.total == 3 && own.page == 1 && own.page_size == 20)
    #expect(own.items.map(\.has_image) == [false, false, true])
    for item in own.items {
      #expect(item.query == Self.query && item.year == 1945)
      #expect(try Self.seconds.wholeMatch(in: item.created_at) != nil)
    }
    #expect(try await app.get("/api/v1/users/me/timepoints?page=2&page_size=2").objects("items").count == 1)
  }

  private func expectLedger(_ app: Browser, _ ids: [String]) async throws {
    let history = try await app.get("/api/v1/credits/history?limit=20&offset=0").list
    let spent = history.filter { $0["type"] as? String == "generation" }
    #expect(Set(spent.compactMap { $0["reference_id"] as? String }) == Set(ids))
    let balance = try await app.get("/api/v1/credits/balance")
    #expect([balance.int("balance"), balance.int("lifetime_earned"), balance.int("lifetime_spent")] == [35, 50, 15])
  }

  private func expectVisibility(_ app: Browser, _ anyone: Browser, _ made: TimepointResponse) async throws {
    let path = "/api/v1/timepoints/\(made.id)"
    let hidden = try await app.send(.PATCH, "\(path)/visibility", json: ["visibility": "private"])
    let scene = try JSONDecoder().decode(TimepointResponse.self, from: hidden.body)
    #expect(hidden.status == 200 && scene.visibility == "private" && scene.share_url == nil)
    let refused = try await anyone.get(path)
    #expect(refused.status == 403 && refused.string("detail") == "This scene is private.")
    #expect(try await anyone.get("/api/v1/timepoints?visibility=public").objects("items").count == 1)
    #expect(try await app.get("/api/v1/timepoints?visibility=private").objects("items").count == 2)
    #expect(try await anyone.get("/api/v1/timepoints/\(UUID())").status == 404)
    let bearer = anyone.bearing("not-a-token")
    #expect(try await bearer.post("/api/v1/timepoints/generate/sync", ["query": Self.query]).status == 401)
    #expect(try await app.post("/api/v1/timepoints/generate/sync", ["query": "ab"]).status == 422)
  }

  private func expectInteractionsAndJumps(_ app: Browser, _ made: TimepointResponse) async throws {
    let people = try await app.get("/api/v1/timepoints/\(made.id)/characters")
    let name = try #require(people.objects("characters").first?["name"] as? String)
    let path = "/api/v1/interactions/\(made.id)"
    let chat = try await app.post("\(path)/chat", ["character": name, "message": "What do you see?"])
    #expect(chat.status == 200 && chat.string("character_name") == name && !chat.string("emotional_tone").isEmpty)
    #expect(try await app.post("\(path)/dialog", [:]).objects("dialog").count == 5)
    let survey = try await app.post("\(path)/survey", ["questions": ["What do you fear?"]])
    #expect(survey.objects("responses").count == survey.int("total_characters"))
    let next = try await app.post("/api/v1/temporal/\(made.id)/next", [:])
    #expect(next.int("units") == 1 && next.string("unit") == "day" && next.int("source_year") == 1945)
    let prior = try await app.post("/api/v1/temporal/\(made.id)/prior", ["units": 5, "unit": "year"])
    #expect(prior.int("target_year") == 1940)
    let sequence = try await app.get("/api/v1/temporal/\(made.id)/sequence")
    #expect(sequence.object("center")["id"] as? String == made.id)
    #expect(sequence.objects("next").map { $0["id"] as? String } == [next.string("target_id")])
    #expect(sequence.objects("prior").map { $0["id"] as? String } == [prior.string("target_id")])
    #expect(try await app.get("/api/v1/credits/balance").int("balance") == 35 - 3 - 4)
  }
}
