import Web

/// A duration, or a time on some clock, in nanoseconds.
package typealias Nanoseconds = Int64

/// The number of requests that are allowed in a minute, all at once or spread out.
package struct Quota: Sendable, Hashable {
  package let perMinute: Int
  /// In which one request is refilled. Rounded down, so that the whole quota is refilled within a minute.
  let interval: Nanoseconds
  /// In which the whole quota is refilled.
  let refillTime: Nanoseconds

  package static let range = 1...1_000_000_000
  /// The longest `refillTime`.
  static let minute: Nanoseconds = 60_000_000_000

  package init(perMinute: Int) {
    let count = min(max(perMinute, Self.range.lowerBound), Self.range.upperBound)
    self.perMinute = count
    interval = Self.minute / Nanoseconds(count)
    refillTime = interval * Nanoseconds(count)
  }
}

/// The quotas of all classes, from the settings.
package struct LimitQuotas: Sendable {
  private let signIn: Quota
  private let refresh: Quota
  private let anonymous: Quota
  private let user: Quota
  private let upload: Quota
  private let search: Quota
  private let photo: Quota
  private let socket: Quota
  private let webhook: Quota
  private let preview = Quota(perMinute: 30)

  /// - Throws: ``StartFailure`` that names the variable.
  package init(_ settings: Settings) throws {
    func quota(_ name: String, _ fallback: Int) throws -> Quota {
      Quota(perMinute: try settings.int(name, default: fallback, in: Quota.range))
    }
    signIn = try quota("RATE_LIMIT_SIGN_IN", 10)
    refresh = try quota("RATE_LIMIT_REFRESH", 30)
    anonymous = try quota("RATE_LIMIT", 60)
    user = try quota("RATE_LIMIT_USER", 100)
    upload = try quota("RATE_LIMIT_UPLOAD", 20)
    search = try quota("RATE_LIMIT_SEARCH", 50)
    photo = try quota("RATE_LIMIT_PHOTO", 600)
    socket = try quota("RATE_LIMIT_SOCKET", 300)
    webhook = try quota("RATE_LIMIT_WEBHOOK", 6000)
  }

  package subscript(limit: LimitClass) -> Quota {
    switch limit {
    case .signIn: signIn
    case .refresh: refresh
    case .anonymous, .refused: anonymous
    case .user: user
    case .upload: upload
    case .search: search
    case .preview: preview
    case .photo: photo
    case .socket: socket
    case .webhook: webhook
    }
  }
}
