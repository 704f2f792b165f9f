import Logging

/// Writes mails to the log where no SMTP server is configured: in development, codes and links are read there.
struct LogMailSender: MailSender {
  let logger: Logger
  /// In development only. Elsewhere, a link in a log would let its readers sign in, and a mail that is not sent is a
  /// failure.
  let showsText: Bool

  func send(_ message: MailMessage) async throws {
    guard showsText else {
      logger.warning("mail not sent: no server is configured", metadata: ["to": "\(message.to.masked)"])
      throw MailFailure(.notConfigured)
    }
    logger.notice(
      "mail, for want of a server",
      metadata: ["to": "\(message.to.text)", "subject": "\(message.subject)", "text": "\(message.text)"])
  }
}
