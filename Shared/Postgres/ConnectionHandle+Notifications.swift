import CPostgres
import Database
import Foundation

extension ConnectionHandle {
  /// A message of PostgreSQL's `notify`.
  struct Notification: Sendable {
    let channel: String
    let payload: String
  }

  /// Waits for notifications of the channels that this session listens on.
  ///
  /// - Returns: those that have arrived, none after `timeout`.
  /// - Throws: ``DatabaseFailure/unavailable`` when the connection has broken.
  func notifications(waitingMilliseconds timeout: Int32) throws -> [Notification] {
    var descriptor = pollfd(fd: PQsocket(pointer), events: Int16(POLLIN), revents: 0)
    let found = nextNotifications()
    guard found.isEmpty else { return found }
    guard poll(&descriptor, 1, timeout) >= 0 || errno == EINTR, PQconsumeInput(pointer) == 1, isOpen else {
      throw DatabaseFailure.unavailable("the connection for notifications has broken")
    }
    return nextNotifications()
  }

  private func nextNotifications() -> [Notification] {
    var notifications: [Notification] = []
    while let notification = PQnotifies(pointer) {
      notifications.append(
        Notification(
          channel: String(cString: notification.pointee.relname),
          payload: String(cString: notification.pointee.extra)))
      PQfreemem(notification)
    }
    return notifications
  }
}
