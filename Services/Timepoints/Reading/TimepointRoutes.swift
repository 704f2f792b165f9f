import ClientBodies
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

  func add(to routes: HTTPRoutes) {
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
    return .json(TimepointCharacters(timepoint))
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
      TimepointPage(
        items: found.items.map { presenter.body($0, for: viewer) }, total: found.total, page: page.number,
        pageSize: page.size))
  }

  /// A status that does not exist is ignored.
  @Sendable private func own(_ request: Request, _ context: Context) async throws -> Response {
    let user = try access.user(context).id
    let page = try request.page()
    let status = request.uri.queryParameters["status"].flatMap { Timepoint.Status(rawValue: String($0)) }
    let found = try await database.read { db in try TimepointLists.own(of: user, status: status, page, on: db) }
    return .json(
      TimepointPage(
        items: found.items.map { TimepointSummary($0) }, total: found.total, page: page.number, pageSize: page.size))
  }
}

extension TimepointSummary {
  fileprivate init(_ timepoint: Timepoint) {
    self.init(
      id: timepoint.id.description, query: timepoint.query, slug: timepoint.slug, status: timepoint.status.rawValue,
      year: timepoint.scene?.timeline.year, location: timepoint.scene?.timeline.location,
      hasImage: timepoint.hasImage, createdAt: timepoint.createdAt)
  }
}

extension TimepointCharacters {
  fileprivate init(_ timepoint: Timepoint) {
    let (timeline, people) = (timepoint.scene?.timeline, timepoint.scene?.characters ?? [])
    self.init(
      timepointID: timepoint.id.description, query: timepoint.query, year: timeline?.year,
      location: timeline?.location, era: timeline?.era, totalCharacters: people.count,
      speakingCharacters: people.filter(\.speaksInScene).count,
      characters: timeline.map { timeline in people.map { Character($0, in: timeline) } } ?? [])
  }
}

extension TimepointCharacters.Character {
  fileprivate init(_ character: SceneCharacter, in timeline: Timeline) {
    self.init(
      name: character.name, role: character.role, systemPrompt: character.portrait(in: timeline),
      dialogContext: character.dialogContext, speaksInScene: character.speaksInScene,
      personality: character.personality, speakingStyle: character.speakingStyle,
      emotionalState: character.emotionalState, historicalNote: character.historicalNote)
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
