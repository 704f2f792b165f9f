import Clients
import Wire

extension InviteStore {
  /// Whether the invite is for no e-mail address, or for one that the user has verified. Without a mail server nobody
  /// can verify an address; auth then answers with the user who signed up with it.
  func addressMatches(_ invite: Invite, _ user: UserID, in users: UsersClient) async throws -> Bool {
    guard invite.hasInviteeEmail else { return true }
    guard let email = try await open(.email, of: invite.id) else { return false }
    return try await users.person(named: email)?.id == user
  }
}
