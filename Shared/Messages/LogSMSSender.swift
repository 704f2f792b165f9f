import Logging

/// Writes SMS to the log where no provider is configured: in development, codes are read there.
package struct LogSMSSender: SMSSender {
  private let logger: Logger
  private let showsText: Bool

  /// - Parameter showsText: in development only. Elsewhere, a code in a log would let its readers sign in, and a
  ///   message that is not sent is a failure.
  package init(logger: Logger, showsText: Bool) {
    self.logger = logger
    self.showsText = showsText
  }

  package func send(_ text: String, to number: PhoneNumber) async throws {
    guard showsText else {
      logger.warning("text message not sent: no provider is configured", metadata: ["to": "\(number.masked)"])
      throw SMSFailure(.notConfigured)
    }
    logger.notice("text message, for want of a provider", metadata: ["to": "\(number.text)", "text": "\(text)"])
  }

  /// Always false: what was logged is not read back.
  package func hasAccepted(textEndingIn ending: String, to number: PhoneNumber) async throws -> Bool { false }
}
