import Logging

/// Writes letters to the log, where there is no server: in development a developer reads codes and links there.
struct LoggedMail: Mail {
  let logger: Logger
  /// In development only. Elsewhere a link in a log would be anybody's sign-in, and a letter that nobody gets is a failure.
  let showsText: Bool

  func send(_ letter: Letter) async throws {
    guard showsText else {
      logger.warning("mail not sent: no server is configured", metadata: ["to": "\(letter.to.masked)"])
      throw MailFailure(.notConfigured)
    }
    logger.notice(
      "mail, for want of a server",
      metadata: ["to": "\(letter.to.text)", "subject": "\(letter.subject)", "text": "\(letter.text)"])
  }
}
