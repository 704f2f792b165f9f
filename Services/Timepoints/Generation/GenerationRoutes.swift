import ClientBodies
import Crypto
import Database
import Foundation
import HTTPTypes
import Hummingbird
import Web
import Wire

/// Makes a scene in the background, within the request, or with its steps as a stream. It is the same job each time.
struct GenerationRoutes: Sendable {
  let generations: Generations
  let streams: GenerationStreams
  let access: Access
  let callbacks: CallbackRules
  let providers: ProvidersStatus
  let presenter: TimepointPresenter
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    routes.post("/api/v1/timepoints/generate", use: begin)
    routes.post("/api/v1/timepoints/generate/sync", use: generate)
    routes.post("/api/v1/timepoints/generate/stream", use: stream)
    routes.get("/api/v1/timepoints/{id}/events", use: events)
  }

  @Sendable private func begin(_ request: Request, _ context: Context) async throws -> Response {
    let (_, timepoint) = try await begun(request, context)
    return .json(
      StartedTimepointAnswer(
        id: timepoint.id.description, status: (timepoint.isEnded ? timepoint.status : .processing).rawValue,
        message: "The scene is being made. Ask for it again in a few seconds.",
        requestContext: timepoint.requestContext.map { .init($0) }))
  }

  @Sendable private func generate(_ request: Request, _ context: Context) async throws -> Response {
    let (viewer, timepoint) = try await begun(request, context)
    let ended = try await generations.ended(timepoint.id)
    if let failure = ended.failure { throw failure.failure }
    return .json(presenter.body(ended, for: viewer, isFull: true))
  }

  @Sendable private func stream(_ request: Request, _ context: Context) async throws -> Response {
    let (_, timepoint) = try await begun(request, context)
    return streams.response(timepoint.id, after: 0)
  }

  /// The stream again, from the event after `Last-Event-ID`.
  @Sendable private func events(_ request: Request, _ context: Context) async throws -> Response {
    let viewer = try access.user(context).viewer
    let id = try context.timepointID()
    let text = request.headers[.lastEventID] ?? "0"
    guard let number = Int(text), number >= 0 else {
      throw Failure(
        .malformed, "invalid_last_event_id", "Last-Event-ID is not one that this stream has sent.")
    }
    _ = try await generations.database.read { db in try TimepointStore.own(id, of: viewer, on: db) }
    return streams.response(id, after: number)
  }

  private func begun(_ request: Request, _ context: Context) async throws -> (Viewer, Timepoint) {
    let (viewer, user) = try access.user(context)
    var request = request
    let digest = Data(SHA256.hash(data: Data(buffer: try await request.bufferBody()))).base64EncodedString()
    let key = try request.idempotencyKey()
    let wanted = try GenerationRequest(try await request.json(GenerationRequestBody.self), callbacks: callbacks)
    try requireConfigured(providers)
    let input = GenerationInput(
      query: wanted.query, preset: wanted.preset, textModel: wanted.textModel, imageModel: wanted.imageModel,
      wantsImage: wanted.wantsImage)
    let new = NewTimepoint(
      id: .new(at: now()), owner: user, input: input, visibility: wanted.visibility,
      operation: PricedOperation.generation(wanted.preset), isCharged: !viewer.isOpen, context: wanted.context,
      callbackURL: wanted.callback?.text, writesBlob: wanted.writesBlob, clientKey: key,
      clientDigest: key.map { _ in digest })
    return (viewer, try await generations.begin(new))
  }
}

extension HTTPField.Name {
  // `!`: a constant that is a valid token.
  static let lastEventID = Self("last-event-id")!
}
