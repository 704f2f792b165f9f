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
    @OrNull var name: String?
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
      code: code.text, role: invite.role, list: list, inviter: Inviter(name: inviter?.name),
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
    @OrNull var id: Int?
    let role: String
    @OrNullBody var user: User?
  }

  let message = "Invite accepted"
  let list: ListName
  let membership: Member

  init(_ joined: ListJoined, _ person: Person?) {
    list = joined.list
    let user = person.map { User(id: $0.number, email: $0.email, name: $0.name) }
    membership = Member(id: joined.membershipID, role: joined.role, user: user)
  }
}
