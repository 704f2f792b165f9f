import ClientBodies
import Foundation
import Wire

extension ListInvitePreview {
  /// A link to a list for everybody who has its code, also without signing in.
  init(_ invite: Invite, _ code: InviteToken, _ list: ListSummary, _ inviter: Person?, at now: Date) {
    self.init(
      code: code.text, role: invite.role ?? "", list: List(list), inviter: Inviter(inviter),
      usable: invite.isUsable(at: now), expired: invite.expiresAt <= now, exhausted: invite.isUsedUp)
  }

  /// A direct invite for its invitee. nil for an invite without an integer id.
  init?(_ link: CodeLink, _ links: AppLinks, _ list: ListSummary, _ inviter: Person?, at now: Date) {
    let invite = link.invite
    guard let number = invite.number else { return nil }
    self.init(
      id: number, code: link.code.text, role: invite.role ?? "",
      inviteURL: links.pageURL(ofCode: link.code), deepLink: links.deepLink(ofCode: link.code), list: List(list),
      inviter: Inviter(inviter),
      expiresAt: invite.expiresAt, maxUses: invite.usesMax ?? 1, usesCount: invite.usesCount,
      usable: invite.isUsable(at: now), createdAt: invite.createdAt)
  }
}

extension ListInvitePreview.List {
  fileprivate init(_ list: ListSummary) {
    self.init(id: list.id, name: list.name, color: list.color, visibility: list.visibility)
  }
}

extension ListInvitePreview.Inviter {
  /// The name is empty when the user has none: the app cannot decode an inviter without one.
  fileprivate init(_ person: Person?) { self.init(name: person?.name ?? "") }
}
