import Web
import Wire

/// What other services ask of lists.
package struct ListsClient: Sendable {
  private let client: ServiceClient

  package init(in surroundings: Surroundings) { client = ServiceClient(.lists, in: surroundings) }

  /// What the user is in the list, and the list's name and color; nil when there is no such list.
  package func role(of user: UserID, in list: Int) async throws -> ListRole? {
    try await Self.listNotFound.orNil { try await client.call(.GET, Self.path(list, user)) }
  }

  /// Lets the user in, by an invite that they have accepted. Safe to repeat: by one claim they join once, and nobody's
  /// role is changed.
  ///
  /// - Throws: 404 when the list has gone, 409 `list_full` or `in_too_many_lists`, 403 `member_removed` when they were
  ///   removed after the invite had been made, 410 `invite_lapsed` when whoever made it may not invite any more.
  package func join(_ list: Int, _ user: UserID, by join: JoinList) async throws -> ListJoined {
    try await Self.listNotFound.believed {
      try await client.call(.PUT, Self.path(list, user), body: join, isRepeatable: true)
    }
  }

  /// With whom of `others` the user shares a list; blocks are not known here. At most ``RelationsQuery/othersMax``
  /// others. Safe to repeat.
  package func relations(of user: UserID, to others: Set<UserID>) async throws -> Relations {
    guard !others.isEmpty else { return Relations() }
    let query = RelationsQuery(user: user, others: Array(others))
    return try await Self.listNotFound.believed {
      try await client.call(.POST, "/internal/lists/relations", body: query, isRepeatable: true)
    }
  }

  private static let listNotFound = NotFound(code: "list_not_found")

  private static func path(_ list: Int, _ user: UserID) -> CallPath { "/internal/lists/\(list)/members/\(user)" }
}
