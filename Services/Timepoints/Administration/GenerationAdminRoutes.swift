import Database
import Foundation
import Hummingbird
import Web
import Wire

/// The generations that have failed, and those that do not end, for operators with the admin key. Without what users
/// have written.
struct GenerationAdminRoutes: Sendable {
  let database: any Database
  let adminKey: String

  func add(to routes: HTTPRoutes) { routes.get("/internal/timepoints/failed", use: failed) }

  @Sendable private func failed(_ request: Request, _ context: Context) async throws -> Response {
    try requireAdmin(request, adminKey)
    let limit = try request.queryNumber("limit", default: 50, in: 1...200)
    let body = try await database.read { db in
      FailedGenerationsBody(
        failed: try TimepointLists.failed(limit: limit, on: db).map(FailedGenerationsBody.Failed.init),
        unfinished: try db.rows(
          """
          select id, tries, created_at, due_at from generation_job where due_at is not null order by due_at
          limit \(limit)
          """
        ).map {
          .init(
            id: try $0.get("id"), tries: try $0.get("tries"), created_at: try $0.get("created_at"),
            due_at: try $0.get("due_at"))
        })
    }
    return .json(body)
  }
}

private struct FailedGenerationsBody: Encodable {
  struct Failed: Encodable {
    let id: TimepointID
    let preset: String
    @NullCodable var code: String?
    @NullCodable var error: String?
    let created_at: Date
    @NullCodable var failed_at: Date?

    init(_ timepoint: Timepoint) {
      id = timepoint.id
      preset = timepoint.preset.rawValue
      _code = NullCodable(wrappedValue: timepoint.failure?.code)
      _error = NullCodable(wrappedValue: timepoint.failure?.message)
      created_at = timepoint.createdAt
      _failed_at = NullCodable(wrappedValue: timepoint.endedAt)
    }
  }

  struct Unfinished: Encodable {
    let id: TimepointID
    /// How many processes have worked on it.
    let tries: Int
    let created_at: Date
    /// When it begins, or its lease ends.
    let due_at: Date
  }

  let failed: [Failed]
  let unfinished: [Unfinished]
}
