import Database
import Foundation
import Messages
import Outbox
import Wire

/// The text that invites somebody, as it waits in the outbox.
struct InviteText: Codable, Sendable {
  static let kind = "invite"

  let invite: InviteID
  let number: String
  let text: String

  /// Names the sender, the group, the App Store's link and the code, in the words that the app's users know.
  static func words(from sender: String?, to group: String, code: Secret, _ links: AppLinks) -> String {
    """
    \(LinkFreeWords.of(sender ?? "", most: 40) ?? "Someone") invited you to share daily photos \
    with "\(LinkFreeWords.of(group, most: 50) ?? "a group")" on \(links.app).

    Download: \(links.appStore)
    Invite code: \(code.text)
    """
  }

  /// Sends it once. The provider takes a message under no key of ours: after a try whose end is not known it is asked
  /// first whether it has the message, and as long as it cannot say, nothing is sent.
  static func delivery(
    _ messages: any Messages, _ invites: InviteStore, now: @escaping @Sendable () -> Date
  ) -> Delivery {
    Delivery(kind, timeout: .seconds(25), waitWhenUnknown: timeToShow) { post in
      let message = try post.decode(InviteText.self)
      guard let number = PhoneNumber(message.number) else { throw Undeliverable("not a number") }
      switch try await invites.database.read({ db in try need(of: message.invite, at: now(), on: db) }) {
      case .sent: break
      case .notSent: return
      case .notKnown: throw TryLater(after: .seconds(5))
      }
      do {
        if post.tries > 1, try await messages.hasTaken(endingIn: message.ending, to: number) { return }
        try await messages.send(message.text, to: number)
      } catch let failure as MessageFailure {
        guard failure.isWorthAnotherTry else { throw Undeliverable("\(failure)") }
        throw TryLater(after: max(failure.retryAfter ?? .zero, failure.isOutcomeUnknown ? timeToShow : .zero))
      }
    }
  }

  private enum Need { case sent, notSent, notKnown }

  /// Taken back, used or expired in the meantime, a text would only confuse. Somebody who is on their way in may still be
  /// turned away, and then it is as good as before.
  private static func need(of id: InviteID, at now: Date, on db: any Connection) throws -> Need {
    guard let invite = try InviteStore.find(id, on: db) else { return .notSent }
    if invite.isUsable(at: now) { return .sent }
    guard invite.kept == .accepted else { return .notSent }
    let claim = try db.row("select id from invite_use where invite_id = \(id) and state = 'claimed' limit 1")
    return claim == nil ? .notSent : .notKnown
  }

  /// In which the provider's list comes to show what it has taken.
  private static let timeToShow: Duration = .seconds(30)

  /// The line with the code, which no other text has: the provider may write names in other characters than we do.
  private var ending: String { text.split(separator: "\n").last.map(String.init) ?? text }
}
