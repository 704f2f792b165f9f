import Foundation

/// How one kind of message is sent.
package struct Delivery: Sendable {
  package static let day: Duration = .seconds(86_400)

  let kind: String
  let timeout: Duration
  let giveUpAfter: Duration
  let waitWhenUnknown: Duration
  private let send: @Sendable (Post) async throws -> Void

  /// - Parameters:
  ///   - timeout: for one try, which is cancelled then.
  ///   - giveUpAfter: how long it is tried.
  ///   - waitWhenUnknown: the least to wait after a try whose end is not known, as it took too long or was called off
  ///     because the process stops: for those who first ask what became of it, where that takes time to show.
  ///   - send: throws ``Undeliverable`` for what will never work, ``TryLater`` when told how long to wait, anything else
  ///     for another try. Errors are logged: they carry no personal data. When the process dies at the wrong moment, it
  ///     is called again for a message that was sent; `Post.id` is the same then.
  package init(
    _ kind: String, timeout: Duration = .seconds(20), giveUpAfter: Duration = Delivery.day,
    waitWhenUnknown: Duration = .zero, send: @escaping @Sendable (Post) async throws -> Void
  ) {
    self.kind = kind
    self.timeout = timeout
    self.giveUpAfter = giveUpAfter
    self.waitWhenUnknown = waitWhenUnknown
    self.send = send
  }

  func carryOut(_ post: Post) async throws {
    try await withThrowingTaskGroup(of: Void.self) { [timeout, send] group in
      group.addTask { try await send(post) }
      group.addTask {
        try await Task.sleep(for: timeout)
        throw TookTooLong(limit: timeout)
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }
}

/// The message will never arrive, however often it is tried.
package struct Undeliverable: Error, CustomStringConvertible {
  package let reason: String

  /// - Parameter reason: for the log: no personal data.
  package init(_ reason: String) { self.reason = reason }

  package var description: String { reason }
}

/// The other side has said how long to wait.
package struct TryLater: Error {
  package let wait: Duration

  package init(after wait: Duration) { self.wait = wait }
}

struct TookTooLong: Error, CustomStringConvertible {
  let limit: Duration

  var description: String { "no end within \(limit)" }
}
