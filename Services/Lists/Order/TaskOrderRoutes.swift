import Database
import Foundation
import Hummingbird
import Web
import Wire

/// Moving tasks: several at once, on one list or on many, or a single one.
struct TaskOrderRoutes: Sendable {
  let once: Once
  let now: @Sendable () -> Date
  /// Enough for a whole list.
  private static let movesMax = List.tasksMax
  /// Each is held, and read whole.
  private static let listsMax = 20
  private static let bytesMax = 512 * 1024

  func add(to routes: Router<Context>) {
    let (mine, whole) = (routes.forUsers(), routes.forUsers(bytesMax: Self.bytesMax))
    for method in [HTTPRequest.Method.post, .patch] {
      whole.on("/api/v1/tasks/reorder", method: method, use: reorder)
      whole.on("/api/v1/lists/{list}/tasks/reorder", method: method, use: reorder)
      for path in TaskRoutes.paths { mine.on(RouterPath("\(path)/reorder"), method: method, use: move) }
    }
  }

  @Sendable private func reorder(_ request: Request, _ context: SignedIn) async throws -> Response {
    let user = context.user
    let list = context.parameters.get("list") == nil ? nil : try context.id("list")
    var fields = try await request.fieldsIfAny("task", bytesMax: Self.bytesMax)
    let objects = fields.objects("tasks", most: Self.movesMax)
    let moves = objects.compactMap { object -> TaskOrder.Move? in
      guard case .integer(let id) = object["id"] else { return nil }
      return TaskOrder.Move(id: id, object)
    }
    if moves.count < objects.count { fields.refuse("tasks", "must each have an id and a position") }
    if request.headers[.ifMatch] != nil { fields.refuse("If-Match", "is for one task; give each its version") }
    try fields.finish()
    return try await answer(request, context) { db in
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
    let (place, user) = (try context.place(), context.user)
    guard case .object(let object) = try await request.json(JSONValue.self),
      let move = TaskOrder.Move(id: place.id, object)
    else { throw Failure.invalid(.init("position", "is required, or after_id, or before_id")) }
    return try await answer(request, context, expecting: Expectation(request)) { db in
      [try TaskView.task(place, for: user, on: db).list: [move]]
    }
  }

  /// Lists are held in the order of their ids, so that two who hold several do not wait for each other.
  private func answer(
    _ request: Request, _ context: SignedIn, expecting expected: Expectation = .any,
    _ moves: @escaping @Sendable (any Connection) throws -> [Int: [TaskOrder.Move]]
  ) async throws -> Response {
    let user = context.user
    return try await once.answer(request, context) { db, _ in
      for (list, moves) in try moves(db).sorted(by: { $0.key < $1.key }) {
        try TaskOrderStore.move(moves, of: list, by: user, expecting: expected, on: db)
      }
      return try .exactJSON(MessageBody(message: "Tasks reordered"))
    }
  }
}
