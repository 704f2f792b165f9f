import Foundation
import Wire

/// What an app asks for, within `invite`.
struct NewListLinkBody: Decodable {
  let invite: LinkTerms.Body?
}

struct ListLinkBody: Encodable {
  let invite: CodeLinkBody
}

/// What everybody sees who has a link to a list, also before they have signed in.
struct ListPreviewBody: Encodable {
  struct Inviter: Encodable {
    /// Empty for who has not told theirs: the app cannot read an inviter without one.
    let name: String
  }

  struct Preview: Encodable {
    let code: String
    @OrNull var role: String?
    let list: ListName
    let inviter: Inviter
    let usable: Bool
    let expired: Bool
    let exhausted: Bool
  }

  let invite: Preview

  init(_ invite: Invite, _ code: Secret, _ list: ListName, _ inviter: Person?, at now: Date) {
    self.invite = Preview(
      code: code.text, role: invite.role, list: list, inviter: Inviter(name: inviter?.name ?? ""),
      usable: invite.isUsable(at: now), expired: invite.expiresAt <= now, exhausted: invite.isUsedUp)
  }
}

struct ListJoinedBody: Encodable {
  struct User: Encodable {
    let id: Int
    @OrNull var email: String?
    @OrNull var name: String?
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

  /// - Throws: 410 when whoever has come in was removed again before they were told.
  init(_ joined: ListJoined, _ person: Person) throws(Failure) {
    guard let id = joined.membershipID else { throw .inviteUnusable }
    let (list, role) = (joined.list, joined.role)
    self.list = List(id: list.id, name: list.name, color: list.color, visibility: list.visibility, role: role)
    membership = Member(
      id: id, role: role, user: User(id: person.number, email: person.email, name: person.name))
  }
}

struct DeclinedBody: Encodable {
  let message = "Invite declined"
}
