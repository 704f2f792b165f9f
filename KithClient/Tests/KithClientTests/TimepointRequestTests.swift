import Foundation
import Testing

@testable import KithClient

/// The client sends what the document of timepoints shows.
@Suite struct TimepointRequestTests {
  @Test func scenesAreMade() async throws {
    var request = TimepointRequest("My private moment")
    request.visibility = .private
    let body = """
      {"query": "My private moment", "visibility": "private", "generate_image": false, "preset": "balanced",
       "write_blob": false}
      """
    try await expectRequest("POST", "/api/v1/timepoints/generate", body) {
      _ = try await $0.timepoints.generate(request)
    }
    try await expectRequest("POST", "/api/v1/timepoints/generate/sync", body) {
      _ = try await $0.timepoints.generateAndWait(request)
    }
    try await expectRequest("POST", "/api/v1/timepoints/generate/stream", body) {
      for try await _ in $0.timepoints.generating(request) {}
    }
    try await expectRequest("GET", "/api/v1/timepoints/t/events") {
      for try await _ in $0.timepoints.progress(of: "t") {}
    }
    request.textModel = "google/gemini"
    request.imageModel = "i"
    request.callbackURL = URL(string: "https://a.example/done")
    request.requestContext = ["my_id": 1]
    try await expectRequest(
      "POST", "/api/v1/timepoints/generate",
      """
      {"query": "My private moment", "visibility": "private", "generate_image": false, "preset": "balanced",
       "write_blob": false, "text_model": "google/gemini", "image_model": "i",
       "callback_url": "https://a.example/done", "request_context": {"my_id": 1}}
      """
    ) { [request] in _ = try await $0.timepoints.generate(request) }
  }

  @Test func scenesAreReadAndChanged() async throws {
    try await expectRequest("GET", "/api/v1/timepoints/t?full=true") {
      _ = try await $0.timepoints.timepoint("t", full: true)
    }
    try await expectRequest("GET", "/api/v1/timepoints/slug/trinity-abc123?full=false&include_image=true") {
      _ = try await $0.timepoints.timepoint(slug: "trinity-abc123", includingImage: true)
    }
    try await expectRequest("GET", "/api/v1/timepoints?page=2&page_size=5&status=completed&visibility=private") {
      _ = try await $0.timepoints.all(page: 2, pageSize: 5, status: "completed", visibility: .private)
    }
    try await expectRequest("GET", "/api/v1/users/me/timepoints?page=1&page_size=20&status=completed") {
      _ = try await $0.timepoints.mine(status: "completed")
    }
    try await expectRequest("GET", "/api/v1/timepoints/t/characters") {
      _ = try await $0.timepoints.characters(of: "t")
    }
    try await expectRequest("GET", "/api/v1/timepoints/t/image?size=1080") {
      _ = try await $0.timepoints.image(of: "t")
    }
    try await expectRequest("PATCH", "/api/v1/timepoints/t/visibility", #"{"visibility": "private"}"#) {
      _ = try await $0.timepoints.setVisibility(of: "t", to: .private)
    }
    try await expectRequest("POST", "/api/v1/timepoints/t/export", "{}") { _ = try await $0.timepoints.export("t") }
    try await expectRequest("DELETE", "/api/v1/timepoints/t") { try await $0.timepoints.delete("t") }
    try await expectRequest("DELETE", "/api/v1/timepoints/t?permanent=true") {
      try await $0.timepoints.delete("t", isPermanent: true)
    }
    try await expectRequest("GET", "/api/v1/temporal/t/sequence?direction=prior&limit=3") {
      _ = try await $0.timepoints.sequence(around: "t", .prior, atMost: 3)
    }
    try await expectRequest("POST", "/api/v1/temporal/t/next", #"{"units": 2, "unit": "year"}"#) {
      _ = try await $0.timepoints.jump(from: "t", .next, units: 2, of: .year)
    }
  }

  @Test func charactersAreAsked() async throws {
    let chat = ChatRequest("Hi", to: "Ada", in: "s")
    let chatBody = """
      {"character": "Ada", "message": "Hi", "session_id": "s", "save_session": false, "response_format": "auto"}
      """
    try await expectRequest("POST", "/api/v1/interactions/t/chat", chatBody) {
      _ = try await $0.timepoints.chat(chat, in: "t")
    }
    try await expectRequest("POST", "/api/v1/interactions/t/chat/stream", chatBody) {
      for try await _ in $0.timepoints.chatStream(chat, in: "t") {}
    }
    let dialogBody = #"{"characters": "all", "num_lines": 5, "sequential": true}"#
    try await expectRequest("POST", "/api/v1/interactions/t/dialog", dialogBody) {
      _ = try await $0.timepoints.dialog(in: "t")
    }
    try await expectRequest("POST", "/api/v1/interactions/t/dialog/stream", dialogBody) {
      for try await _ in $0.timepoints.dialogStream(in: "t") {}
    }
    let survey = SurveyRequest(["Why?"], characters: ["Ada"], mode: .sequential, isChained: true, model: "m")
    let surveyBody = """
      {"characters": ["Ada"], "questions": ["Why?"], "mode": "sequential", "chain_prompts": true,
       "include_summary": true, "model": "m"}
      """
    try await expectRequest("POST", "/api/v1/interactions/t/survey", surveyBody) {
      _ = try await $0.timepoints.survey(survey, in: "t")
    }
    try await expectRequest("POST", "/api/v1/interactions/t/survey/stream", surveyBody) {
      for try await _ in $0.timepoints.surveyStream(survey, in: "t") {}
    }
  }

  @Test func conversationsAndModels() async throws {
    try await expectRequest("GET", "/api/v1/interactions/sessions/t") {
      _ = try await $0.timepoints.conversations(in: "t")
    }
    try await expectRequest("GET", "/api/v1/interactions/session/s") { _ = try await $0.timepoints.conversation("s") }
    try await expectRequest("DELETE", "/api/v1/interactions/session/s") {
      try await $0.timepoints.deleteConversation("s")
    }
    try await expectRequest("GET", "/api/v1/models", isBearer: false) { _ = try await $0.timepoints.models() }
    try await expectRequest("GET", "/api/v1/models/free", isBearer: false) {
      _ = try await $0.timepoints.models(onlyFree: true)
    }
    try await expectRequest("GET", "/api/v1/models/providers", isBearer: false) {
      _ = try await $0.timepoints.modelProviders()
    }
    let (client, transport) = try await KithClient.scripted { _, _ in .refusal(404, "model_not_found") }
    await #expect(throws: KithFailure.self) { try await client.timepoints.model("meta/llama 3:free") }
    #expect(transport.requests[0].url.absoluteString.hasSuffix("/api/v1/models/meta/llama%203:free"))
    for id in ["rehearsal", "google/gemini"] {
      try await expectRequest("GET", "/api/v1/models/\(id)", isBearer: false) { _ = try await $0.timepoints.model(id) }
    }
  }
}
