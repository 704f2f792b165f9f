import ClientBodies
import Clients
import Database
import Foundation
import Hummingbird
import Web
import Wire

/// Builds responses with tasks of all lists of a user: whole when they fit one chunk, else streamed.
struct UserTasksResponse: Sendable {
  let database: any Database
  let peopleCache: PeopleCache
  let user: UserID
  let now: Date

  /// - Parameter body: the body of the response with these tasks.
  func response(
    to request: Request, _ selection: TaskSelection, body: @Sendable ([ClientBodies.ListTask]) throws -> some Encodable
  ) async throws -> Response {
    guard selection.chunks.count > 1 else {
      let tasks = try await bodies(selection.chunks.first ?? [])
      return try Reply.exactJSON(try body(tasks)).response(to: request)
    }
    let streamed = try await StreamedResponse(
      try body([]), arrayMember: "tasks", chunkCount: selection.chunks.count
    ) { index in
      try JSON.encodeExact(try await bodies(selection.chunks[index]))
    }
    // No entity tag: there is no revision that covers all of these lists, so a tag would require reading every chunk.
    return streamed.response(to: request, tag: nil)
  }

  func bodies(of details: [TaskDetails]) async throws -> [ClientBodies.ListTask] {
    let people = try await peopleCache.people(
      details.reduce(into: []) { $0.formUnion($1.people) }, withAddressesOf: [user])
    return details.map { ClientBodies.ListTask($0, people, at: now) }
  }

  private func bodies(_ ids: [Int]) async throws -> [ClientBodies.ListTask] {
    guard !ids.isEmpty else { return [] }
    return try await bodies(of: try await database.read { db in try TaskDetails.withIDs(ids, for: user, on: db) })
  }
}
