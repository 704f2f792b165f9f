import Web
import Wire

/// The internal API of the invites service.
package struct InvitesClient: Sendable {
  private let client: ServiceClient

  package init(in dependencies: Dependencies) { client = ServiceClient(.invites, in: dependencies) }

  /// Creates an invite to a list for one person. An open invite of the same inviter for the same person and list is
  /// replaced, as the code of an existing invite cannot be read again. Safe to repeat.
  ///
  /// - Throws: 429 when the inviter has created too many.
  package func invite(_ invite: InviteToList) async throws -> ListInvitation {
    try await client.call(.POST, "/internal/invites/lists", body: invite, isRepeatable: true)
  }

  /// Sends a text message that invites a phone number to a group. Safe to repeat within a day.
  ///
  /// - Throws: 429 when too many text messages were sent, 403 when the inviter is not in the group or is not proven,
  ///   422 when the number is not valid.
  package func sendText(_ invitation: TextInvitationRequest) async throws -> TextInvitationResult {
    try await client.call(.POST, "/internal/invites/texts", body: invitation, isRepeatable: true)
  }
}
