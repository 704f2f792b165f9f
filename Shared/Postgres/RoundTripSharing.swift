/// Whether reads wait for the round trip of others to end and share the next one on its connection, instead of having a
/// connection that is idle wake for them. Each round trip wakes a thread, a process of the server and an event loop,
/// which costs more than most reads: the more of them share one, the less each costs. Where round trips are not short,
/// as to a server that is far away, no read waits for one.
struct RoundTripSharing {
  /// So many reads make a round trip of their own.
  private let readsMax: Int
  /// Reads wait for one that has begun so recently.
  private let ageMax: Duration
  /// They do so while the last one was shorter than this.
  private let durationMax: Duration
  /// After this time, and ``ageMax``, they no longer wait.
  let waitMax: Duration

  private var beginnings: [ObjectIdentifier: ContinuousClock.Instant] = [:]
  /// Of the connection that was the last to begin one, while it lasts.
  private var last: (connection: ObjectIdentifier, began: ContinuousClock.Instant)?
  private var lastDuration = Duration.zero
  /// Somebody looks for reads that have waited for too long.
  var hasTimer = false

  init(
    readsMax: Int = 12, ageMax: Duration = .microseconds(200), durationMax: Duration = .microseconds(500),
    waitMax: Duration = .milliseconds(1)
  ) {
    self.readsMax = readsMax
    self.ageMax = ageMax
    self.durationMax = durationMax
    self.waitMax = waitMax
  }

  mutating func began(on connection: PooledConnection, at now: ContinuousClock.Instant) {
    last = (ObjectIdentifier(connection), now)
    beginnings[ObjectIdentifier(connection)] = now
  }

  /// Ends the round trip of the connection, if it has one.
  mutating func ended(on connection: PooledConnection, at now: ContinuousClock.Instant) {
    let connection = ObjectIdentifier(connection)
    guard let began = beginnings.removeValue(forKey: connection) else { return }
    lastDuration = now - began
    if last?.connection == connection { last = nil }
  }

  /// Whether `count` reads wait.
  func holds(_ count: Int, at now: ContinuousClock.Instant) -> Bool {
    guard let last, count < readsMax, lastDuration < durationMax else { return false }
    return now - last.began < ageMax
  }
}
