import Database
import Foundation
import Hummingbird
import Web
import Wire

/// The routes that move tasks: a single one, or several at once, on one list or on several.
struct TaskOrderRoutes: Sendable {
  let idempotentChange: IdempotentChange
  let now: @Sendable () -> Date
  /// All tasks of a list.
  private static let movesMax = List.tasksMax
  /// Each list is locked, and all positions on it are read.
  private static let listsMax = 20
  private static let bytesMax = 512 * 1024

  func add(to routes: HTTPRoutes) {
    let (userRoutes, bulkRoutes) = (routes.forUsers(), routes.forUsers(bytesMax: Self.bytesMax).offEventLoop())
    for method in [HTTPRequest.Method.post, .patch] {
      bulkRoutes.on("/api/v1/tasks/reorder", method: method, use: reorder)
      bulkRoutes.on("/api/v1/lists/{list}/tasks/reorder", method: method, use: reorder)
      for path in TaskRoutes.paths { userRoutes.on(RouterPath("\(path)/reorder"), method: method, use: move) }
    }
  }

  @Sendable private func reorder(_ request: Request, _ context: SignedIn) async throws -> Response {
    let user = context.user
    let list = context.parameters.get("list") == nil ? nil : try context.id("list")
    var fields = try await request.optionalFields("task", bytesMax: Self.bytesMax)
    let objects = fields.objects("tasks", max: Self.movesMax)
    let moves = objects.compactMap { object -> TaskOrder.Move? in
      guard case .integer(let id) = object["id"] else { return nil }
      return TaskOrder.Move(id: id, object)
    }
    if moves.count < objects.count { fields.addError("tasks", "must each have an id and a position") }
    if request.headers[.ifMatch] != nil { fields.addError("If-Match", "is for one task; give each its version") }
    try fields.validate()
    return try await response(to: request, context) { db in
      guard list == nil else { return [list ?? 0: moves] }
      let lists = try TaskOrderStore.lists(of: moves.map(\.id), for: user, on: db)
      let moves = Dictionary(grouping: moves) { lists[$0.id] ?? 0 }
      guard moves.count <= Self.listsMax else {
        throw Failure.invalid(.init("tasks", "must be of at most \(Self.listsMax) lists"))
      }
      return moves
    }
  }

  @Sendable private func move(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (reference, user) = (try context.taskReference(), context.user)
    guard case .object(let object) = try await request.json(JSONValue.self),
      let move = TaskOrder.Move(id: reference.id, object)
    else { throw Failure.invalid(.init("position", "is required, or after_id, or before_id")) }
    return try await response(to: request, context, ifMatch: IfMatch(request)) { db in
      [try TaskDetails.task(reference, for: user, on: db).list: [move]]
    }
  }

  /// Lists are locked in the order of their IDs, so that requests that lock several cannot deadlock.
  private func response(
    to request: Request, _ context: SignedIn, ifMatch: IfMatch = .any,
    _ moves: @escaping @Sendable (any Connection) throws -> [Int: [TaskOrder.Move]]
  ) async throws -> Response {
    let (user, now) = (context.user, now())
    return try await idempotentChange.response(to: request, context) { db, _ in
      for (list, moves) in try moves(db).sorted(by: { $0.key < $1.key }) {
        try TaskOrderStore.move(moves, of: list, by: user, ifMatch: ifMatch, at: now, on: db)
      }
      return try .exactJSON(MessageBody(message: "Tasks reordered"))
    }
  }
}
