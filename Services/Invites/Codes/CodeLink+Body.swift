import ClientBodies
import Foundation

/// A link in responses to those who may create links.
extension ClientBodies.CodeLink {
  /// - Parameter id: an integer for a link to a list, a UUID for a link to a group.
  init(_ link: CodeLink, id: ID, _ appLinks: AppLinks, at now: Date) {
    let invite = link.invite
    self.init(
      id: id, code: link.code.text, role: invite.role,
      inviteURL: appLinks.pageURL(ofCode: link.code), deepLink: appLinks.deepLink(ofCode: link.code),
      expiresAt: invite.expiresAt,
      maxUses: invite.usesMax, usesCount: invite.usesCount, usable: invite.isUsable(at: now),
      createdAt: invite.createdAt)
  }
}
