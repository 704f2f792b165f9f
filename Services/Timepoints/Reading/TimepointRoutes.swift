import Database
import Foundation
import Hummingbird
import Photos
import Web
import Wire

/// Shows timepoints to whoever may see them.
struct TimepointRoutes: Sendable {
  let database: any Database
  let access: Access
  let images: SceneImages
  let presenter: TimepointPresenter

  func add(to routes: Router<Context>) {
    routes.get("/api/v1/timepoints", use: list)
    routes.get("/api/v1/timepoints/{id}", use: show)
    routes.get("/api/v1/timepoints/slug/{slug}", use: showBySlug)
    routes.get("/api/v1/timepoints/{id}/characters", use: characters)
    routes.get("/api/v1/timepoints/{id}/image", use: image)
    routes.get("/api/v1/users/me/timepoints", use: own)
  }

  @Sendable private func show(_ request: Request, _ context: Context) async throws -> Response {
    let viewer = try access.viewer(context)
    let id = try context.timepointID()
    let timepoint = try await database.readOnce { db in try TimepointStore.visible(id, to: viewer, on: db) }
    return try await response(timepoint, for: viewer, to: request)
  }

  @Sendable private func showBySlug(_ request: Request, _ context: Context) async throws -> Response {
    let viewer = try access.viewer(context)
    let slug = context.parameters.get("slug") ?? ""
    let timepoint = try await database.read { db in try TimepointStore.find(slug: slug, on: db) }
    guard let timepoint else { throw Failure.timepointNotFound }
    try viewer.requireVisible(timepoint)
    return try await response(timepoint, for: viewer, to: request)
  }

  private func response(_ timepoint: Timepoint, for viewer: Viewer, to request: Request) async throws -> Response {
    let (isFull, hasBytes) = (try request.queryFlag("full"), try request.queryFlag("include_image"))
    let image = hasBytes && timepoint.hasImage ? try await images.bytes(of: timepoint.id) : nil
    return .json(presenter.body(timepoint, for: viewer, isFull: isFull, image: image))
  }

  @Sendable private func characters(_ request: Request, _ context: Context) async throws -> Response {
    let viewer = try access.viewer(context)
    let id = try context.timepointID()
    let timepoint = try await database.read { db in try TimepointStore.visible(id, to: viewer, on: db) }
    return .json(CharactersBody(timepoint))
  }

  @Sendable private func image(_ request: Request, _ context: Context) async throws -> Response {
    let viewer = try access.viewer(context)
    let id = try context.timepointID()
    let size = try request.queryNumber("size", default: PhotoSize.large.rawValue, in: 1...4096)
    let timepoint = try await database.read { db in try TimepointStore.visible(id, to: viewer, on: db) }
    guard timepoint.hasImage else { throw Failure.imageNotFound }
    return try await images.response(timepoint, size > PhotoSize.small.rawValue ? .large : .small, to: request)
  }

  @Sendable private func list(_ request: Request, _ context: Context) async throws -> Response {
    let viewer = try access.viewer(context)
    let page = try request.page()
    let filter = TimepointLists.Filter(
      status: try request.queryCase("status"), visibility: try request.queryCase("visibility"))
    let found = try await database.read { db in try TimepointLists.visible(to: viewer, filter, page, on: db) }
    return .json(
      ListBody(
        items: found.items.map { presenter.body($0, for: viewer) }, total: found.total, page: page.number,
        page_size: page.size))
  }

  /// A status that does not exist is ignored.
  @Sendable private func own(_ request: Request, _ context: Context) async throws -> Response {
    let user = try access.user(context).id
    let page = try request.page()
    let status = request.uri.queryParameters["status"].flatMap { Timepoint.Status(rawValue: String($0)) }
    let found = try await database.read { db in try TimepointLists.own(of: user, status: status, page, on: db) }
    return .json(
      ListBody(
        items: found.items.map(OwnTimepointBody.init), total: found.total, page: page.number, page_size: page.size))
  }
}

struct ListBody<Item: Encodable>: Encodable {
  let items: [Item]
  let total: Int
  let page: Int
  let page_size: Int
}

struct OwnTimepointBody: Encodable, Sendable {
  let id: TimepointID
  let query: String
  let slug: String
  let status: Timepoint.Status
  @NullCodable var year: Int?
  @NullCodable var location: String?
  let has_image: Bool
  let created_at: Date

  init(_ timepoint: Timepoint) {
    id = timepoint.id
    query = timepoint.query
    slug = timepoint.slug
    status = timepoint.status
    _year = NullCodable(wrappedValue: timepoint.scene?.timeline.year)
    _location = NullCodable(wrappedValue: timepoint.scene?.timeline.location)
    has_image = timepoint.hasImage
    created_at = timepoint.createdAt
  }
}

private struct CharactersBody: Encodable {
  struct Character: Encodable {
    let name: String
    let role: String
    let system_prompt: String
    let dialog_context: String
    let speaks_in_scene: Bool
    let personality: String
    let speaking_style: String
    let emotional_state: String
    let historical_note: String

    init(_ character: SceneCharacter, in timeline: Timeline) {
      name = character.name
      role = character.role
      system_prompt = character.portrait(in: timeline)
      dialog_context = character.dialogContext
      speaks_in_scene = character.speaksInScene
      personality = character.personality
      speaking_style = character.speakingStyle
      emotional_state = character.emotionalState
      historical_note = character.historicalNote
    }
  }

  let timepoint_id: TimepointID
  let query: String
  @NullCodable var year: Int?
  @NullCodable var location: String?
  @NullCodable var era: String?
  let total_characters: Int
  let speaking_characters: Int
  let characters: [Character]

  init(_ timepoint: Timepoint) {
    let (timeline, people) = (timepoint.scene?.timeline, timepoint.scene?.characters ?? [])
    timepoint_id = timepoint.id
    query = timepoint.query
    _year = NullCodable(wrappedValue: timeline?.year)
    _location = NullCodable(wrappedValue: timeline?.location)
    _era = NullCodable(wrappedValue: timeline?.era)
    total_characters = people.count
    speaking_characters = people.filter(\.speaksInScene).count
    characters = timeline.map { timeline in people.map { Character($0, in: timeline) } } ?? []
  }
}

extension Request {
  func page() throws -> Page {
    Page(
      number: try queryNumber("page", default: 1, in: 1...100_000_000),
      size: try queryNumber("page_size", default: 20, in: 1...100))
  }

  func queryFlag(_ name: String) throws(Failure) -> Bool {
    switch uri.queryParameters[name[...]].map({ $0.lowercased() }) {
    case nil, "false", "0": return false
    case "true", "1": return true
    default: throw .invalid(.init(name, "must be true or false"))
    }
  }

  /// nil without the parameter.
  func queryCase<Case: RawRepresentable<String>>(_ name: String) throws(Failure) -> Case? {
    guard let text = uri.queryParameters[name[...]] else { return nil }
    guard let value = Case(rawValue: String(text)) else { throw .invalid(.init(name, "has no such value")) }
    return value
  }
}
