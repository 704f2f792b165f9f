import Hummingbird

/// What the page says, kindly, whatever has become of the invite.
extension PageText {
  struct Words {
    let status: HTTPResponse.Status
    let title: String
    let heading: String
    let sentence: String
    /// What a message shows below the title.
    let preview: String
    /// The lines of a small drawing.
    let drawing: String

    init(_ sight: Sight, _ links: AppLinks) {
      let (app, someone) = (links.app, sight.inviter.isEmpty ? "Someone" : sight.inviter)
      switch sight.state {
      case .open:
        status = .ok
        heading = "\(someone) invites you"
        title = "\(someone) invites you to “\(sight.name)”"
        sentence = sight.kind.sentence(sight.name, app)
        preview = "Open it in \(app), or get the app first."
        drawing = Self.envelope
      case .expired:
        status = .gone
        heading = "This invite has expired"
        title = heading
        sentence = "It was good for a while, and the while is over. Ask \(Self.whom(sight)) for a new one."
        preview = "Ask for a new one."
        drawing = Self.clock
      case .over:
        status = .gone
        heading = "This invite has been used"
        title = heading
        sentence = "Somebody has answered it already. If that was not you, ask \(Self.whom(sight)) for a new one."
        preview = "Ask for a new one."
        drawing = Self.tick
      case .takenBack:
        status = .gone
        heading = "This invite is closed"
        title = heading
        sentence = "It was taken back. Ask \(Self.whom(sight)) whether there is a new one."
        preview = "Ask for a new one."
        drawing = Self.bar
      case .unknown:
        status = .notFound
        heading = "We cannot find this invite"
        title = heading
        sentence = "Perhaps a part of the link was lost on its way. Open it again from the message that it came in."
        preview = "Open the link again from the message that it came in."
        drawing = Self.lens
      case .tooOften:
        status = .tooManyRequests
        heading = "A moment, please"
        title = heading
        sentence = "Too many invites that do not exist were looked for from here. Try again in an hour."
        preview = "Try again later."
        drawing = Self.clock
      case .away:
        status = .serviceUnavailable
        heading = "We will be right back"
        title = heading
        sentence = "Your invite is safe; we just cannot show it at the moment. Try again in a minute."
        preview = "Try again in a minute."
        drawing = Self.clock
      }
    }

    private static func whom(_ sight: Sight) -> String { sight.inviter.isEmpty ? "whoever sent it" : sight.inviter }

    private static let envelope = "<path d=\"M7 13h34v23H7z\"/><path d=\"m8 14 16 13 16-13\"/>"
    private static let clock = "<circle cx=\"24\" cy=\"24\" r=\"17\"/><path d=\"M24 14v10l7 5\"/>"
    private static let tick = "<circle cx=\"24\" cy=\"24\" r=\"17\"/><path d=\"m16 25 6 6 11-13\"/>"
    private static let bar = "<circle cx=\"24\" cy=\"24\" r=\"17\"/><path d=\"M16 24h16\"/>"
    private static let lens = "<circle cx=\"21\" cy=\"21\" r=\"13\"/><path d=\"m31 31 9 9\"/>"
  }
}

extension Destination.Kind {
  fileprivate func sentence(_ name: String, _ app: String) -> String {
    switch self {
    case .collection: "to the collection “\(name)” on \(app)."
    case .group: "to share daily photos with “\(name)” on \(app)."
    case .list: "to the list “\(name)” on \(app)."
    }
  }
}
