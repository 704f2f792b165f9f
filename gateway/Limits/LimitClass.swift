/// What a request is counted as.
package enum LimitClass: UInt8, Sendable, CaseIterable {
  /// Signing in and up, one-time codes and magic links: one budget.
  case signIn
  case refresh
  case anonymous
  case user
  case upload
  case search
  /// Public looks at invites.
  case preview
  /// Fetching photos by their links. A screen of groups shows many at once, and many phones may be behind one address.
  case photo
  /// Bearers and keys that were refused, and the lack of one. What anonymous callers may do is counted apart, so that
  /// they cannot lock out users behind the same address.
  case refused

  /// As `RateLimit-Policy` and the keys in Redis have it.
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
    case .refused: "refused"
    }
  }

  /// What a request counts as whose route names nothing of its own: the user's, or an anonymous caller's.
  package static func usual(isUser: Bool) -> LimitClass { isUser ? .user : .anonymous }

  /// Whether it is the person who is counted when there is one; else it is the address, whoever signs in from there.
  var countsUsers: Bool {
    switch self {
    case .user, .upload, .search: true
    case .signIn, .refresh, .anonymous, .preview, .photo, .refused: false
    }
  }
}
