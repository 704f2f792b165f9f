import Database
import Foundation
import Messages
import Outbox
import Wire

/// A text message with an invite code, as the outbox stores it.
struct InviteText: Codable, Sendable {
  static let kind = "invite"

  let invite: InviteID
  let number: String
  let text: String

  /// The message: the sender, the group, the App Store link and the code, in the phrases that the app's users are used
  /// to.
  static func body(from sender: String?, to group: String, code: InviteToken, _ links: AppLinks) -> String {
    """
    \(LinkFreeText.line(sender ?? "", charactersMax: 40) ?? "Someone") invited you to share daily photos \
    with "\(LinkFreeText.line(group, charactersMax: 50) ?? "a group")" on \(links.app).

    Download: \(links.appStore)
    Invite code: \(code.text)
    """
  }

  /// Sends the text once. The provider's API has no idempotency key: after an attempt with an unknown outcome the
  /// provider is first queried for the message, and nothing is sent as long as the query fails.
  static func delivery(
    _ messages: any SMSSender, _ invites: InviteStore, now: @escaping @Sendable () -> Date
  ) -> Delivery {
    Delivery(kind, timeout: .seconds(25), unknownOutcomeDelay: listingDelay) { post in
      let message = try post.decode(InviteText.self)
      guard let number = PhoneNumber(message.number) else { throw Undeliverable("not a number") }
      switch try await invites.database.read({ db in try decision(for: message.invite, at: now(), on: db) }) {
      case .send: break
      case .drop: return
      case .wait: throw TryLater(after: .seconds(5))
      }
      do {
        if post.tries > 1, try await messages.hasAccepted(textEndingIn: message.lastLine, to: number) { return }
        try await messages.send(message.text, to: number)
      } catch let failure as SMSFailure where failure.isRetryable {
        // Here, as an unknown outcome needs a longer delay; ``Delivery`` translates the failures that are permanent.
        throw TryLater(after: max(failure.retryAfter ?? .zero, failure.isOutcomeUnknown ? listingDelay : .zero))
      }
    }
  }

  private enum Decision { case send, drop, wait }

  /// Whether the text is still useful: not when its invite was revoked, used or has expired in the meantime. A use that
  /// is only claimed may be reverted, and the invite is then open again.
  private static func decision(for id: InviteID, at now: Date, on db: any Connection) throws -> Decision {
    guard let invite = try InviteStore.find(id, on: db) else { return .drop }
    if invite.isUsable(at: now) { return .send }
    guard invite.storedState == .accepted else { return .drop }
    let claim = try db.row("select id from invite_use where invite_id = \(id) and state = 'claimed' limit 1")
    return claim == nil ? .drop : .wait
  }

  /// How long the provider may take until its list of messages contains one that it has accepted.
  private static let listingDelay: Duration = .seconds(30)

  /// The line with the code, which is unique to this text. The provider is queried for this line only: it may change
  /// characters in the names.
  private var lastLine: String { text.split(separator: "\n").last.map(String.init) ?? text }
}
