import NIOCore
import Synchronization
import Wire

/// How many broadcasts users may send by HTTP: in each process as many as by one socket.
final class BroadcastAllowances: Sendable {
  private let users = Mutex<[UserID: RateAllowance]>([:])
  private let settings: SocketSettings
  /// Beyond so many those are left out that have spent nothing lately.
  private static let usersMax = 10_000

  init(_ settings: SocketSettings) { self.settings = settings }

  /// - Returns: false when the messages are too many.
  func spend(_ count: Int, of user: UserID, at now: NIODeadline = .now()) -> Bool {
    users.withLock { [settings] users in
      if users.count >= Self.usersMax { users = users.filter { !$0.value.isFull(at: now) } }
      let full = RateAllowance(perSecond: settings.messagesPerSecond, burst: settings.messagesBurst, at: now)
      return users[user, default: full].spend(count, at: now)
    }
  }
}
