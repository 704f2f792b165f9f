import Foundation
import Hummingbird
import Web
import Wire

/// Talks with characters, and their answers in one piece.
struct InteractionRoutes: Sendable {
  let interactions: Interactions
  let access: Access
  let providers: ProvidersStatus

  func add(to routes: Router<Context>) {
    routes.post("/api/v1/interactions/{id}/chat", use: chat)
    routes.post("/api/v1/interactions/{id}/dialog", use: dialog)
    routes.post("/api/v1/interactions/{id}/survey", use: survey)
  }

  @Sendable private func chat(_ request: Request, _ context: Context) async throws -> Response {
    let (viewer, user) = try access.user(context)
    let chat = try ChatRequest(try await request.json(ChatBody.self))
    let id = try context.timepointID()
    let scene = try await interactions.scene(of: id, for: viewer)
    let character = try scene.character(named: chat.character)
    let history = try await interactions.history(chat, of: user, with: character, in: id)
    try requireConfigured(providers)
    let startedAt = ContinuousClock.now
    let charge = try await interactions.work.begin(PricedOperation.chat, on: id, by: viewer)
    let reply = try await interactions.work.attempt(charge) { [voices = interactions.voices] in
      try await voices.reply(to: chat.message, by: character, in: scene, history: history, model: chat.model)
    }
    let session = try await interactions.finish(chat, reply.response, of: user, with: character, in: id, charge)
    return .json(
      ChatReplyBody(
        character_name: character.name, response: reply.response, session_id: session,
        emotional_tone: reply.emotionalTone, latency_ms: (ContinuousClock.now - startedAt).inMilliseconds))
  }

  @Sendable private func dialog(_ request: Request, _ context: Context) async throws -> Response {
    let viewer = try access.user(context).viewer
    let dialog = try DialogRequest(try await request.json(DialogBody.self))
    let id = try context.timepointID()
    let scene = try await interactions.scene(of: id, for: viewer)
    let characters = try dialog.characters.characters(of: scene)
    try requireConfigured(providers)
    let startedAt = ContinuousClock.now
    let charge = try await interactions.work.begin(PricedOperation.chat, on: id, by: viewer)
    let lines = try await interactions.work.attempt(charge) { [interactions] in
      try await interactions.lines(dialog, of: characters, in: scene)
    }
    try await interactions.work.earn(charge) { _ in }
    return .json(DialogReplyBody(lines, characters, scene, (ContinuousClock.now - startedAt).inMilliseconds))
  }

  @Sendable private func survey(_ request: Request, _ context: Context) async throws -> Response {
    let viewer = try access.user(context).viewer
    let survey = try SurveyRequest(try await request.json(SurveyBody.self))
    let id = try context.timepointID()
    let scene = try await interactions.scene(of: id, for: viewer)
    let characters = try survey.characters.characters(of: scene)
    try requireConfigured(providers)
    let startedAt = ContinuousClock.now
    let charge = try await interactions.work.begin(PricedOperation.chat, on: id, by: viewer)
    let (answers, summary) = try await interactions.work.attempt(charge) { [interactions] in
      try await interactions.survey(survey, of: characters, in: scene)
    }
    try await interactions.work.earn(charge) { _ in }
    return .json(
      SurveyReplyBody(
        id, survey, answers, summary, characters.count, (ContinuousClock.now - startedAt).inMilliseconds))
  }
}

struct ChatReplyBody: Encodable, Sendable {
  let character_name: String
  let response: String
  @NullCodable var session_id: ConversationID?
  @NullCodable var emotional_tone: String?
  let latency_ms: Int
}

struct DialogReplyBody: Encodable, Sendable {
  let dialog: [DialogLine]
  let context: String
  let characters_involved: [String]
  let latency_ms: Int

  init(_ lines: [DialogLine], _ characters: [SceneCharacter], _ scene: GeneratedScene, _ milliseconds: Int) {
    dialog = lines
    context = scene.moment.summary
    characters_involved = characters.map(\.name)
    latency_ms = milliseconds
  }
}

struct SurveyReplyBody: Encodable, Sendable {
  let timepoint_id: TimepointID
  let questions: [String]
  let responses: [SurveyAnswer]
  @NullCodable var summary: String?
  let mode: SurveyMode
  let total_characters: Int
  let latency_ms: Int

  init(
    _ timepoint: TimepointID, _ survey: SurveyRequest, _ answers: [SurveyAnswer], _ summary: String?,
    _ characterCount: Int, _ milliseconds: Int
  ) {
    timepoint_id = timepoint
    questions = survey.questions
    responses = answers
    _summary = NullCodable(wrappedValue: summary)
    mode = survey.mode
    total_characters = characterCount
    latency_ms = milliseconds
  }
}
