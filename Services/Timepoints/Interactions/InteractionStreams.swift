import Foundation
import Hummingbird
import Logging
import NIOCore
import Web
import Wire

/// The same as ``InteractionRoutes``, with the answer in pieces as server-sent events.
///
/// The work goes on when the client goes away: what it has read it has, so it is charged.
struct InteractionStreams: Sendable {
  let interactions: Interactions
  let access: Access
  let providers: ProvidersStatus
  let logger: Logger

  func add(to routes: Router<Context>) {
    routes.post("/api/v1/interactions/{id}/chat/stream", use: chat)
    routes.post("/api/v1/interactions/{id}/dialog/stream", use: dialog)
    routes.post("/api/v1/interactions/{id}/survey/stream", use: survey)
  }

  @Sendable private func chat(_ request: Request, _ context: Context) async throws -> Response {
    let (viewer, user) = try access.user(context)
    let chat = try ChatRequest(try await request.json(ChatBody.self))
    let id = try context.timepointID()
    let scene = try await interactions.scene(of: id, for: viewer)
    let character = try scene.character(named: chat.character)
    let history = try await interactions.history(chat, of: user, with: character, in: id)
    try requireConfigured(providers)
    let charge = try await interactions.work.begin(PricedOperation.chat, on: id, by: viewer)
    return response { [interactions] send in
      let startedAt = ContinuousClock.now
      let answer = try await interactions.work.attempt(charge) {
        var answer = ""
        let pieces = interactions.voices.replyPieces(
          to: chat.message, by: character, in: scene, history: history, model: chat.model)
        for try await piece in pieces {
          answer += piece
          send(.init(.token, .string(piece), by: character.name))
        }
        return answer
      }
      let session = try await interactions.finish(chat, answer, of: user, with: character, in: id, charge)
      return try JSONValue(
        encoding: ChatReplyBody(
          character_name: character.name, response: answer, session_id: session, emotional_tone: nil,
          latency_ms: (ContinuousClock.now - startedAt).inMilliseconds))
    }
  }

  @Sendable private func dialog(_ request: Request, _ context: Context) async throws -> Response {
    let viewer = try access.user(context).viewer
    let dialog = try DialogRequest(try await request.json(DialogBody.self))
    let id = try context.timepointID()
    let scene = try await interactions.scene(of: id, for: viewer)
    let characters = try dialog.characters.characters(of: scene)
    try requireConfigured(providers)
    let charge = try await interactions.work.begin(PricedOperation.chat, on: id, by: viewer)
    return response { [interactions] send in
      let startedAt = ContinuousClock.now
      let lines = try await interactions.work.attempt(charge) {
        try await interactions.lines(dialog, of: characters, in: scene) { line in
          guard let data = try? JSONValue(encoding: line) else { return }
          send(.init(.line, data, by: line.speaker))
        }
      }
      try await interactions.work.earn(charge) { _ in }
      return try JSONValue(
        encoding: DialogReplyBody(lines, characters, scene, (ContinuousClock.now - startedAt).inMilliseconds))
    }
  }

  @Sendable private func survey(_ request: Request, _ context: Context) async throws -> Response {
    let viewer = try access.user(context).viewer
    let survey = try SurveyRequest(try await request.json(SurveyBody.self))
    let id = try context.timepointID()
    let scene = try await interactions.scene(of: id, for: viewer)
    let characters = try survey.characters.characters(of: scene)
    try requireConfigured(providers)
    let charge = try await interactions.work.begin(PricedOperation.chat, on: id, by: viewer)
    return response { [interactions] send in
      let startedAt = ContinuousClock.now
      let (answers, summary) = try await interactions.work.attempt(charge) {
        try await interactions.survey(survey, of: characters, in: scene) { answer in
          guard let data = try? JSONValue(encoding: answer) else { return }
          send(.init(.line, data, by: answer.characterName))
        }
      }
      try await interactions.work.earn(charge) { _ in }
      return try JSONValue(
        encoding: SurveyReplyBody(
          id, survey, answers, summary, characters.count, (ContinuousClock.now - startedAt).inMilliseconds))
    }
  }

  /// A stream of what `body` sends, which ends with what it returns or with its error.
  private func response(
    _ body: @escaping @Sendable (_ send: @escaping @Sendable (InteractionEventBody) -> Void) async throws -> JSONValue
  ) -> Response {
    let (events, continuation) = AsyncStream.makeStream(of: InteractionEventBody.self)
    // A task of its own, which does not end with the connection.
    Task { [logger] in
      do {
        continuation.yield(.init(.done, try await body { continuation.yield($0) }, by: nil))
      } catch {
        let failure = Failure(describing: error, logger: logger)
        continuation.yield(.init(.error, .string(failure.message), by: nil))
      }
      continuation.finish()
    }
    return Response(
      status: .ok, headers: EventStreamText.headers,
      body: .init { writer in
        try await Self.write(events, to: &writer)
        try await writer.finish(nil)
      })
  }

  /// With a comment every 15 seconds, which keeps the connection while a provider thinks.
  private static func write(
    _ events: AsyncStream<InteractionEventBody>, to writer: inout any ResponseBodyWriter
  ) async throws {
    let (buffers, continuation) = AsyncStream.makeStream(of: ByteBuffer.self)
    let source = Task {
      for await event in events {
        let json = String(decoding: try JSON.encode(event), as: UTF8.self)
        continuation.yield(EventStreamText.message(json))
      }
      continuation.finish()
    }
    let pulse = Task {
      while !Task.isCancelled {
        try await Task.sleep(for: .seconds(15))
        continuation.yield(EventStreamText.comment)
      }
    }
    defer {
      source.cancel()
      pulse.cancel()
    }
    for await buffer in buffers { try await writer.write(buffer) }
  }
}

/// One event of a stream of an interaction.
struct InteractionEventBody: Encodable, Sendable {
  enum Name: String, Encodable, Sendable { case token, line, done, error }

  let event: Name
  let data: JSONValue
  @NullCodable var character_name: String?

  init(_ event: Name, _ data: JSONValue, by character: String?) {
    self.event = event
    self.data = data
    _character_name = NullCodable(wrappedValue: character)
  }
}
