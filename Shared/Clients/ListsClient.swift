import Web
import Wire

/// The internal API of the lists service.
package struct ListsClient: Sendable {
  private let client: ServiceClient

  package init(in dependencies: Dependencies) { client = ServiceClient(.lists, in: dependencies) }

  /// The user's role in the list, with the list's name and color; nil when there is no such list.
  package func membership(of user: UserID, in list: Int) async throws -> ListMembership? {
    try await Self.listNotFound.orNil { try await client.call(.GET, Self.path(list, user)) }
  }

  /// Adds the user to the list by an invite that they have accepted. Safe to repeat: a claim adds its user once, and
  /// the role of a member is not changed.
  ///
  /// - Throws: 404 when the list was deleted, 409 `list_full` or `in_too_many_lists`, 403 `member_removed` when the
  ///   user was removed after the invite had been made, 410 `invite_lapsed` when the inviter may no longer invite.
  package func join(_ list: Int, _ user: UserID, by join: JoinList) async throws -> JoinedList {
    try await Self.listNotFound.checking {
      try await client.call(.PUT, Self.path(list, user), body: join, isRepeatable: true)
    }
  }

  /// Which of `others` share a list with the user; `blocked` is always empty. At most ``RelationsQuery/othersMax``
  /// others. Safe to repeat.
  package func relations(of user: UserID, to others: Set<UserID>) async throws -> Relations {
    guard !others.isEmpty else { return Relations() }
    let query = RelationsQuery(user: user, others: Array(others))
    return try await Self.listNotFound.checking {
      try await client.call(.POST, "/internal/lists/relations", body: query, isRepeatable: true)
    }
  }

  private static let listNotFound = NotFoundCode(code: "list_not_found")

  private static func path(_ list: Int, _ user: UserID) -> CallPath { "/internal/lists/\(list)/members/\(user)" }
}
