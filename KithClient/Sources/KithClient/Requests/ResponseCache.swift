import Foundation

/// How long an answer may be shown again without asking.
struct CachePolicy: Sendable {
  /// What a change of makes answers stale.
  enum Area: Sendable, Hashable { case users, plans, socialGroups, hunts, arrivals, places, lists, images }

  let area: Area
  /// 0: ask each time, with the `ETag`, and let the server say that nothing has changed.
  let seconds: Double

  static let users = CachePolicy(area: .users, seconds: 3600)
  static let plans = CachePolicy(area: .plans, seconds: 30 * 60)
  static let socialGroups = CachePolicy(area: .socialGroups, seconds: 15 * 60)
  static let hunts = CachePolicy(area: .hunts, seconds: 5 * 60)
  static let arrivals = CachePolicy(area: .arrivals, seconds: 60)
  static let places = CachePolicy(area: .places, seconds: 0)
  static let lists = CachePolicy(area: .lists, seconds: 0)
  static let images = CachePolicy(area: .images, seconds: 0)
}

/// Answers in memory, for one user at a time: signing out empties it.
actor ResponseCache {
  struct Key: Hashable, Sendable {
    let user: String?
    let url: URL
  }

  struct Entry: Sendable {
    let response: HTTPResponse
    let etag: String?
    let area: CachePolicy.Area
    var confirmedAt: Date
    var usedAt: UInt64
  }

  private static let bytesMax = 8 * 1024 * 1024
  private let now: @Sendable () -> Date
  private var entries: [Key: Entry] = [:]
  private var byteCount = 0
  private var uses: UInt64 = 0
  /// Counted up by every removal, so that an answer to a question from before a change is not kept.
  private(set) var generation = 0

  init(now: @escaping @Sendable () -> Date) { self.now = now }

  func entry(_ key: Key) -> Entry? {
    uses += 1
    entries[key]?.usedAt = uses
    return entries[key]
  }

  func isFresh(_ entry: Entry, for policy: CachePolicy) -> Bool {
    let age = now().timeIntervalSince(entry.confirmedAt)
    return age >= 0 && age < policy.seconds
  }

  func confirm(_ key: Key) { entries[key]?.confirmedAt = now() }

  func keep(_ response: HTTPResponse, as key: Key, in area: CachePolicy.Area, since generation: Int) {
    guard generation == self.generation, response.status == 200, response.body.count <= Self.bytesMax / 4 else {
      return
    }
    remove(key)
    uses += 1
    byteCount += response.body.count
    entries[key] = Entry(
      response: response, etag: response.head["ETag"], area: area, confirmedAt: now(), usedAt: uses)
    while byteCount > Self.bytesMax, let oldest = entries.min(by: { $0.value.usedAt < $1.value.usedAt }) {
      remove(oldest.key)
    }
  }

  func remove(_ areas: Set<CachePolicy.Area>) {
    guard !areas.isEmpty else { return }
    generation += 1
    for key in entries.filter({ areas.contains($0.value.area) }).keys { remove(key) }
  }

  func removeAll() {
    generation += 1
    entries = [:]
    byteCount = 0
  }

  private func remove(_ key: Key) {
    byteCount -= entries.removeValue(forKey: key)?.response.body.count ?? 0
  }
}
