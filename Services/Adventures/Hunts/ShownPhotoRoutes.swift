import Database
import Hummingbird
import Web
import Wire

/// Answers groups whether a user may read another user's photo, because a submission that the user sees names it.
struct ShownPhotoRoutes: Sendable {
  let database: any Database
  let requests: AdventureRequests

  func add(to routes: HTTPRoutes) {
    routes.group(context: ServiceCaller.self).add(middleware: RequiresService(["groups"]))
      .post("/internal/adventures/shown-photo", use: shownPhoto)
  }

  @Sendable private func shownPhoto(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    let query = try await request.json(ShownPhotoQuery.self)
    let viewer = try await requests.caller(query.viewer, for: AdventureTables.submissions)
    let isShown = try await database.readOnce { db in try SubmissionPhotos.isShown(query.photo, to: viewer, on: db) }
    return .exactJSON(ShownPhoto(is_shown: isShown))
  }
}
