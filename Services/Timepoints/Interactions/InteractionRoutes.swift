import ClientBodies
import Foundation
import Hummingbird
import Web
import Wire

/// Talks with the characters of a scene, each in one piece and as a stream.
struct InteractionRoutes: Sendable {
  let interactions: Interactions
  let work: ChargedWork
  let streams: InteractionStreams
  let access: Access
  let providers: ProvidersStatus

  private typealias Preparation = @Sendable (Request, Context) async throws -> PreparedInteraction

  func add(to routes: HTTPRoutes) {
    let preparations: [(String, Preparation)] = [("chat", chat), ("dialog", dialog), ("survey", survey)]
    for (name, prepare) in preparations {
      routes.post("/api/v1/interactions/{id}/\(name)") { [work] request, context in
        try await work.reply(to: try await prepare(request, context)).response
      }
      routes.post("/api/v1/interactions/{id}/\(name)/stream") { [streams] request, context in
        try await streams.response(to: try await prepare(request, context))
      }
    }
  }

  @Sendable private func chat(_ request: Request, _ context: Context) async throws -> PreparedInteraction {
    let asked = try await asked(request, context) { try ChatRequest($0) }
    let chat = asked.request
    let character = try asked.scene.character(named: chat.character)
    let history = try await interactions.history(chat, of: asked.user, with: character, in: asked.timepoint)
    return try prepared(asked) { [interactions] receiver in
      let startedAt = ContinuousClock.now
      let (text, tone) = try await interactions.reply(
        to: chat, by: character, in: asked.scene, after: history, receiver: receiver)
      let milliseconds = (ContinuousClock.now - startedAt).inMilliseconds
      return InteractionAnswer { db in
        let session = try interactions.keep(
          chat, answer: text, of: asked.user, with: character, in: asked.timepoint, on: db)
        return try .json(
          ClientBodies.CharacterReply(
            characterName: character.name, response: text, sessionID: session?.description, emotionalTone: tone,
            latencyMs: milliseconds))
      }
    }
  }

  @Sendable private func dialog(_ request: Request, _ context: Context) async throws -> PreparedInteraction {
    let asked = try await asked(request, context) { try DialogRequest($0) }
    let characters = try asked.request.characters.characters(of: asked.scene)
    return try prepared(asked) { [interactions] receiver in
      let startedAt = ContinuousClock.now
      let lines = try await interactions.lines(asked.request, of: characters, in: asked.scene, receiver: receiver)
      let body = CharacterDialog(
        lines, characters, asked.scene, (ContinuousClock.now - startedAt).inMilliseconds)
      return InteractionAnswer { _ in try .json(body) }
    }
  }

  @Sendable private func survey(_ request: Request, _ context: Context) async throws -> PreparedInteraction {
    let asked = try await asked(request, context) { try SurveyRequest($0) }
    let characters = try asked.request.characters.characters(of: asked.scene)
    return try prepared(asked) { [interactions] receiver in
      let startedAt = ContinuousClock.now
      let (answers, summary) = try await interactions.survey(
        asked.request, of: characters, in: asked.scene, receiver: receiver)
      let body = CharacterSurvey(
        asked.timepoint, asked.request, answers, summary, characters.count,
        (ContinuousClock.now - startedAt).inMilliseconds)
      return InteractionAnswer { _ in try .json(body) }
    }
  }

  /// Who asks what, about which scene.
  private struct Asked<Content: Sendable>: Sendable {
    let request: Content
    let viewer: Viewer
    let user: UserID
    let call: IdempotentCall?
    let timepoint: TimepointID
    let scene: GeneratedScene
  }

  private func asked<Body: Decodable, Content: Sendable>(
    _ request: Request, _ context: Context, _ read: (Body) throws -> Content
  ) async throws -> Asked<Content> {
    let (viewer, user) = try access.user(context)
    var request = request
    let call = try await request.idempotentCall(by: user.description, context)
    let content = try read(try await request.json(Body.self))
    let id = try context.timepointID()
    let scene = try await interactions.scene(of: id, for: viewer)
    return Asked(request: content, viewer: viewer, user: user, call: call, timepoint: id, scene: scene)
  }

  private func prepared<Content: Sendable>(
    _ asked: Asked<Content>,
    _ answer: @escaping @Sendable (_ receiver: InteractionReceiver?) async throws -> InteractionAnswer
  ) throws -> PreparedInteraction {
    try requireConfigured(providers)
    return PreparedInteraction(timepoint: asked.timepoint, viewer: asked.viewer, call: asked.call, answer: answer)
  }
}

extension CharacterDialog {
  fileprivate init(
    _ lines: [DialogLine], _ characters: [SceneCharacter], _ scene: GeneratedScene, _ milliseconds: Int
  ) {
    self.init(
      dialog: lines.map { .init($0) }, context: scene.moment.summary, charactersInvolved: characters.map(\.name),
      latencyMs: milliseconds)
  }
}

extension CharacterSurvey {
  fileprivate init(
    _ timepoint: TimepointID, _ survey: SurveyRequest, _ answers: [SurveyAnswer], _ summary: String?,
    _ characterCount: Int, _ milliseconds: Int
  ) {
    self.init(
      timepointID: timepoint.description, questions: survey.questions, responses: answers.map { Answer($0) },
      summary: summary, mode: survey.mode.rawValue, totalCharacters: characterCount, latencyMs: milliseconds)
  }
}

extension CharacterSurvey.Answer {
  init(_ answer: SurveyAnswer) {
    self.init(
      characterName: answer.characterName, question: answer.question, response: answer.response,
      sentiment: answer.sentiment.rawValue, keyPoints: answer.keyPoints, emotionalTone: answer.emotionalTone)
  }
}
