import Web
import Wire

/// What other services ask of invites.
package struct InvitesClient: Sendable {
  private let client: ServiceClient

  package init(in surroundings: Surroundings) { client = ServiceClient(.invites, in: surroundings) }

  /// An invite to a list for one person only. While one of the same inviter for the same person and list is open, it
  /// is replaced by the new one, so that its code is known again. Safe to repeat.
  ///
  /// - Throws: 429 when whoever invites has made too many.
  package func invite(_ invite: InviteToList) async throws -> ListInvitation {
    try await client.call(.POST, "/internal/invites/lists", body: invite, isRepeatable: true)
  }

  /// Safe to repeat within a day.
  ///
  /// - Throws: 429 when there were too many texts, 403 when whoever invites is not in the group or has proven nothing, 422
  ///   for what is no number.
  package func text(_ text: TextToGroup) async throws -> TextedToGroup {
    try await client.call(.POST, "/internal/invites/texts", body: text, isRepeatable: true)
  }
}
