import Hummingbird

/// The texts, the icon and the HTTP status of the page in each state of an invite.
extension InvitePageHTML {
  struct Texts {
    let status: HTTPResponse.Status
    let title: String
    let heading: String
    let sentence: String
    /// The description in link previews.
    let preview: String
    /// The SVG elements of the icon.
    let iconPaths: String

    init(_ content: InvitePageContent, _ links: AppLinks) {
      let (app, someone) = (links.app, content.inviter.isEmpty ? "Someone" : content.inviter)
      switch content.state {
      case .open:
        status = .ok
        heading = "\(someone) invites you"
        title = "\(someone) invites you to “\(content.name)”"
        sentence = content.kind.sentence(content.name, app)
        preview = "Open it in \(app), or get the app first."
        iconPaths = Self.envelope
      case .expired:
        status = .gone
        heading = "This invite has expired"
        title = heading
        sentence = "It was good for a while, and the while is over. Ask \(Self.inviter(content)) for a new one."
        preview = "Ask for a new one."
        iconPaths = Self.clock
      case .used:
        status = .gone
        heading = "This invite has been used"
        title = heading
        sentence = "Somebody has answered it already. If that was not you, ask \(Self.inviter(content)) for a new one."
        preview = "Ask for a new one."
        iconPaths = Self.tick
      case .revoked:
        status = .gone
        heading = "This invite is closed"
        title = heading
        sentence = "It was taken back. Ask \(Self.inviter(content)) whether there is a new one."
        preview = "Ask for a new one."
        iconPaths = Self.minus
      case .notFound:
        status = .notFound
        heading = "We cannot find this invite"
        title = heading
        sentence = "Perhaps a part of the link was lost on its way. Open it again from the message that it came in."
        preview = "Open the link again from the message that it came in."
        iconPaths = Self.magnifier
      case .rateLimited:
        status = .tooManyRequests
        heading = "A moment, please"
        title = heading
        sentence = "Too many invites that do not exist were looked for from here. Try again in an hour."
        preview = "Try again later."
        iconPaths = Self.clock
      case .unavailable:
        status = .serviceUnavailable
        heading = "We will be right back"
        title = heading
        sentence = "Your invite is safe; we just cannot show it at the moment. Try again in a minute."
        preview = "Try again in a minute."
        iconPaths = Self.clock
      }
    }

    private static func inviter(_ content: InvitePageContent) -> String {
      content.inviter.isEmpty ? "whoever sent it" : content.inviter
    }

    private static let envelope = "<path d=\"M7 13h34v23H7z\"/><path d=\"m8 14 16 13 16-13\"/>"
    private static let clock = "<circle cx=\"24\" cy=\"24\" r=\"17\"/><path d=\"M24 14v10l7 5\"/>"
    private static let tick = "<circle cx=\"24\" cy=\"24\" r=\"17\"/><path d=\"m16 25 6 6 11-13\"/>"
    private static let minus = "<circle cx=\"24\" cy=\"24\" r=\"17\"/><path d=\"M16 24h16\"/>"
    private static let magnifier = "<circle cx=\"21\" cy=\"21\" r=\"13\"/><path d=\"m31 31 9 9\"/>"
  }
}

extension JoinTarget.Kind {
  fileprivate func sentence(_ name: String, _ app: String) -> String {
    switch self {
    case .collection: "to the collection “\(name)” on \(app)."
    case .group: "to share daily photos with “\(name)” on \(app)."
    case .list: "to the list “\(name)” on \(app)."
    }
  }
}
