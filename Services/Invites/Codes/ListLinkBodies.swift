import Foundation
import Wire

/// A request for a link; the options are under `invite`.
struct CreateListLinkBody: Decodable {
  let invite: LinkOptions.Body?
}

/// The response with one link.
struct ListLinkBody: Encodable {
  let invite: CodeLinkBody
}

/// The response to everybody who has the code of a link to a list, also without signing in.
struct ListPreviewBody: Encodable {
  struct Inviter: Encodable {
    /// Empty when the user has no name: the app cannot decode an inviter without one.
    let name: String
  }

  struct Preview: Encodable {
    let code: String
    @NullCodable var role: String?
    let list: ListSummary
    let inviter: Inviter
    let usable: Bool
    let expired: Bool
    let exhausted: Bool
  }

  let invite: Preview

  init(_ invite: Invite, _ code: InviteToken, _ list: ListSummary, _ inviter: Person?, at now: Date) {
    self.invite = Preview(
      code: code.text, role: invite.role, list: list, inviter: Inviter(name: inviter?.name ?? ""),
      usable: invite.isUsable(at: now), expired: invite.expiresAt <= now, exhausted: invite.isUsedUp)
  }
}

/// The response to a user who has joined a list.
struct ListJoinedBody: Encodable {
  struct User: Encodable {
    let id: Int
    @NullCodable var email: String?
    @NullCodable var name: String?
  }

  struct Member: Encodable {
    let id: Int
    let role: String
    let user: User
  }

  struct List: Encodable {
    let id: Int
    let name: String
    let color: String
    let visibility: String
    let role: String
  }

  let message = "Invite accepted"
  let list: List
  let membership: Member

  /// - Throws: 410 when the user was removed from the list again before this response.
  init(_ joined: JoinedList, _ person: Person) throws(Failure) {
    guard let id = joined.membershipID else { throw .inviteUnusable }
    let (list, role) = (joined.list, joined.role)
    self.list = List(id: list.id, name: list.name, color: list.color, visibility: list.visibility, role: role)
    membership = Member(
      id: id, role: role, user: User(id: person.number, email: person.email, name: person.name))
  }
}

struct DeclinedListInviteBody: Encodable {
  let message = "Invite declined"
}
