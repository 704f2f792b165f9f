import Web
import Wire

/// The internal API of the files of `/storage/v1`, which the groups service stores.
package struct StorageClient: Sendable {
  private let client: ServiceClient

  package init(in dependencies: Dependencies) { client = ServiceClient(.groups, in: dependencies) }

  /// Deletes files of `owner` with the rows that named them. Safe to repeat: a file that does not exist, or is another
  /// user's, is left out. At most ``StoredObjectDeletion/namesMax``.
  package func delete(_ names: [StoredObjectName], of owner: UserID) async throws {
    guard !names.isEmpty else { return }
    let _: DeletedObjects = try await client.call(
      .POST, "/internal/storage/delete", body: StoredObjectDeletion(owner: owner, names: names), isRepeatable: true)
  }
}
