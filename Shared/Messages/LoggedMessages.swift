import Logging

/// Writes messages to the log, where there is no provider: in development a developer reads the code there.
package struct LoggedMessages: Messages {
  private let logger: Logger
  private let showsText: Bool

  /// - Parameter showsText: in development only. Elsewhere a code in a log would be anybody's sign-in, and a message that
  ///   nobody gets is a failure.
  package init(logger: Logger, showsText: Bool) {
    self.logger = logger
    self.showsText = showsText
  }

  package func send(_ text: String, to number: PhoneNumber) async throws {
    guard showsText else {
      logger.warning("text message not sent: no provider is configured", metadata: ["to": "\(number.masked)"])
      throw MessageFailure(.notConfigured)
    }
    logger.notice("text message, for want of a provider", metadata: ["to": "\(number.text)", "text": "\(text)"])
  }

  /// Nobody reads what the log has.
  package func hasTaken(endingIn ending: String, to number: PhoneNumber) async throws -> Bool { false }
}
