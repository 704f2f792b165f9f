import Clients
import Foundation
import Hummingbird
import Web
import Wire

/// The endpoints for blocking and unblocking a user. Both are safe to repeat. The blocked user is not notified.
struct BlockRoutes: Sendable {
  let blocks: BlockStore
  let users: UsersClient
  let idempotency: Idempotency
  let photoAccess: PhotoAccessCache
  let outbox: BlockOutbox
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    let userRoutes = routes.group(context: SignedIn.self)
    for path in ["/users/{user}/block", "/api/users/{user}/block"] {
      userRoutes.post("\(path)", use: block)
      userRoutes.delete("\(path)", use: unblock)
    }
  }

  @Sendable private func block(_ request: Request, _ context: SignedIn) async throws -> Response {
    var request = request
    let call = try await request.idempotentCall(by: context.user.description, context)
    let (blocked, blocker, now): (UserID, UserID, Date) = (try context.blockedUser(), context.user, now())
    defer {
      photoAccess.invalidate()
      outbox.wakeUp()
    }
    guard blocked != blocker else { throw Failure.invalid(.init("user", "must be somebody else")) }
    return try await idempotency.once(call) {
      guard try await users.people([blocked]).keys.contains(blocked) else { throw Failure.userNotFound }
    } effect: { [outbox] _, db in
      if try BlockStore.block(blocked, by: blocker, at: now, on: db) {
        try outbox.add(between: blocker, and: blocked, at: now, on: db)
      }
      return try .json(SuccessBody(success: true))
    }.response
  }

  @Sendable private func unblock(_ request: Request, _ context: SignedIn) async throws -> Response {
    try await blocks.unblock(context.blockedUser(), by: context.user, outbox, at: now())
    return .json(SuccessBody(success: true))
  }
}

extension RequestContext {
  fileprivate func blockedUser() throws -> UserID { try id("user", prefix: .user, else: .userNotFound) }
}
