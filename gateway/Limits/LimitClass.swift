/// The class that a request is rate limited in; each has its own quota.
package enum LimitClass: UInt8, Sendable, CaseIterable {
  /// Sign-in, sign-up, one-time codes and magic links share one quota.
  case signIn
  case refresh
  case anonymous
  case user
  case upload
  case search
  /// Public previews of invites.
  case preview
  /// Fetching photos by their links. An app shows many photos at once, and many phones may share one address.
  case photo
  /// Opening WebSockets and event streams: after an outage all phones of an address reconnect at once.
  case socket
  /// What Apple and Stripe report. They send from few addresses, and much at once when subscriptions renew.
  case webhook
  /// Rejected and missing credentials. They are counted apart from anonymous requests, so that anonymous callers cannot
  /// lock out users behind the same address.
  case refused

  /// The name in `RateLimit-Policy` and in the keys in Redis.
  package var name: String {
    switch self {
    case .signIn: "sign-in"
    case .refresh: "refresh"
    case .anonymous: "anonymous"
    case .user: "user"
    case .upload: "upload"
    case .search: "search"
    case .preview: "preview"
    case .photo: "photo"
    case .socket: "socket"
    case .webhook: "webhook"
    case .refused: "refused"
    }
  }

  /// The class of requests whose route has none of its own.
  package static func standard(isUser: Bool) -> LimitClass { isUser ? .user : .anonymous }

  /// Whether requests of a signed-in user are counted by user; else all requests are counted by address.
  var isPerUser: Bool {
    switch self {
    case .user, .upload, .search, .socket: true
    case .signIn, .refresh, .anonymous, .preview, .photo, .webhook, .refused: false
    }
  }
}
