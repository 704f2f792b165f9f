import ClientBodies
import Clients
import Database
import Foundation
import Hummingbird
import Web
import Wire

/// The endpoints for friends: the people with whom the signed-in user shares a list, without those between whom and the
/// user there is a block, and without those whom the user has removed.
struct FriendRoutes: Sendable {
  let database: any Database
  let peopleCache: PeopleCache
  let groups: GroupsClient
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    let userRoutes = routes.forUsers()
    userRoutes.get("/api/v1/friends", use: index)
    userRoutes.delete("/api/v1/friends/{friend}", use: remove)
  }

  @Sendable private func index(_ request: Request, _ context: SignedIn) async throws -> Response {
    .json(FriendsAnswer(friends: try await friends(of: context.user).map(SharedList.Person.init)))
  }

  /// Removes somebody from the caller's friends, by number or UUID. The lists that they share stay as they are.
  @Sendable private func remove(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (user, identifier) = (context.user, PersonIdentifier(context.parameters.get("friend") ?? ""))
    guard let friend = try await friends(of: user).first(where: identifier.identifies) else {
      throw Failure.friendNotFound
    }
    let now = now()
    try await database.write { db in try FriendStore.remove(friend.id, from: user, at: now, on: db) }
    return Response(status: .noContent)
  }

  /// In the order of their names, without their addresses.
  private func friends(of user: UserID) async throws -> [Person] {
    let others = try await database.read { db in
      try SharedLists.people(with: user, on: db).subtracting([user]).subtracting(FriendStore.removed(by: user, on: db))
    }
    guard !others.isEmpty else { return [] }
    let people = try await peopleCache.people(others.subtracting(try await blocked(with: user, among: others)))
    return people.values.filter { $0.number > 0 }.sorted { ($0.name ?? "", $0.number) < ($1.name ?? "", $1.number) }
  }

  /// While groups does not answer, nobody is hidden.
  private func blocked(with user: UserID, among others: Set<UserID>) async throws -> Set<UserID> {
    do { return try await groups.relations(of: user, to: others).blocked } catch is Failure { return [] }
  }
}

/// The statements on the people whom users have removed from their friends.
enum FriendStore {
  static func removed(by user: UserID, on db: any Connection) throws -> Set<UserID> {
    Set(
      try db.rows("select friend_id from removed_friend where user_id = \(user)").map { try $0.get("friend_id") })
  }

  static func remove(_ friend: UserID, from user: UserID, at now: Date, on db: any Connection) throws {
    try db.change(
      """
      insert into removed_friend (user_id, friend_id, removed_at) values (\(user), \(friend), \(now))
      on conflict (user_id, friend_id) do nothing
      """)
  }

  static func erase(_ user: UserID, on db: any Connection) throws {
    try db.change("delete from removed_friend where user_id = \(user)")
    try db.change("delete from removed_friend where friend_id = \(user)")
  }
}

extension Failure {
  fileprivate static let friendNotFound = Failure(.notFound, "friend_not_found", "There is no such friend.")
}
