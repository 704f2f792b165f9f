import Web
import Wire

/// The internal API of the adventures service.
package struct AdventuresClient: Sendable {
  private let client: ServiceClient

  package init(in dependencies: Dependencies) { client = ServiceClient(.adventures, in: dependencies) }

  /// Ends what the users had as members of the group, or opens to them what members see. Safe to repeat, in any order:
  /// who is a member now is asked of groups. At most ``ChangedMemberships/usersMax`` users.
  package func updateMemberships(of users: [UserID], in group: GroupID) async throws {
    let _: EmptyBody = try await client.call(
      .POST, "/internal/groups/\(group)/departures", body: ChangedMemberships(users: users), isRepeatable: true,
      timeout: .seconds(15))
  }

  /// Hides what two users share with one another if there is a block between them, else shows it. Safe to repeat, in
  /// any order: whether there is one is asked of groups.
  package func updateBlock(_ changed: ChangedBlock) async throws {
    let _: EmptyBody = try await client.call(
      .POST, "/internal/adventures/blocks", body: changed, isRepeatable: true, timeout: .seconds(15))
  }

  /// Whether a submission that the viewer sees names this photo of its author.
  ///
  /// - Throws: ``Wire/Failure/unavailable`` when that is not known, also where a server has no such route.
  package func shows(_ photo: StoredObjectName, to viewer: UserID) async throws -> Bool {
    do {
      let shown: ShownPhoto = try await client.call(
        .POST, "/internal/adventures/shown-photo", body: ShownPhotoQuery(photo: photo, viewer: viewer),
        isRepeatable: true)
      return shown.is_shown
    } catch let failure as Failure where failure.kind == .notFound { throw Failure.unavailable }
  }
}
